package e2e

import (
	"fmt"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/route53"
)

// TestNamesByLatencyAndLocationAreSetsInRoute53 drives external-dns' own AWS provider
// through each change of policy. Route 53 takes one policy for a name at a time, and each
// region and location once.
func TestNamesByLatencyAndLocationAreSetsInRoute53(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "located")
	aws, err := route53.Start(t.Context(), s.world.Ports)
	s.must(err)
	t.Cleanup(aws.Close)
	s.pods(fixture.Paris, true)
	s.pods(fixture.Berlin, true)
	s.loadBalancers()
	s.post("/v2/project/{p}/dns-update-records", fmt.Sprintf(route53Record, aws.URL))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	located := func(routing string) string {
		return fmt.Sprintf(`"hostnames": ["www.aws.example"], "routing": %s`, routing)
	}
	change := func(spec string) {
		s.Helper()
		s.put(prod+"/traffic-group-intents/front/dns-intents/www", document("www", "web", spec))
		s.update(prod)
	}
	s.intent("www", located(`{"policy": "latency", "regions": {"edge+paris": "eu-west-3", "edge+berlin": "eu-central-1"}}`))
	s.instantiate(prod)
	s.sets(aws, "eu-central-1 eu-central-1 "+berlinAddress, "eu-west-3 eu-west-3 "+parisAddress)
	s.pods(fixture.Berlin, false)
	s.sets(aws, "eu-west-3 eu-west-3 "+parisAddress)
	s.pods(fixture.Berlin, true)
	s.sets(aws, "eu-central-1 eu-central-1 "+berlinAddress, "eu-west-3 eu-west-3 "+parisAddress)

	change(located(`{"policy": "geo", "locations": {"edge+paris": ["continent/EU", "country/US/CA"], "edge+berlin": ["country/DE", "default"]}}`))
	const europe, california = "continent/EU EU " + parisAddress, "country/US/CA US/CA " + parisAddress
	s.sets(aws, europe, "country/DE DE "+berlinAddress, california, "default * "+berlinAddress)
	s.pods(fixture.Berlin, false)
	s.sets(aws, europe, california, "default * "+parisAddress) // nobody is left without an answer
	s.pods(fixture.Berlin, true)
	s.sets(aws, europe, "country/DE DE "+berlinAddress, california, "default * "+berlinAddress)

	change(weights(90, 10))
	s.sets(aws, "edge+berlin 10 "+berlinAddress, "edge+paris 90 "+parisAddress)
	s.terminate(prod)
	s.becomes(prod, "Terminated")
	if names := aws.Names(); len(names) > 0 {
		t.Errorf("the zone still has %v", names)
	}
}
