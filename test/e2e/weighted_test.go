package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/route53"
)

const route53Record = `{
	"metadata": {"name": "lab"},
	"spec": {
		"provider": "aws",
		"external-dns-parameters": {"policy": "sync", "interval": "5s", "domain-filter": ["aws.example"]},
		"environment": {"AWS_ENDPOINT_URL_ROUTE_53": %q, "AWS_REGION": "eu-central-1"},
		"credentials": [
			{"environment": "AWS_ACCESS_KEY_ID", "value": "AKIDEXAMPLE"},
			{"environment": "AWS_SECRET_ACCESS_KEY", "value": "of nobody"}
		],
		"releaseTimeout": "45s"
	}
}`

// TestWeightedNamesAreSetsInRoute53 drives external-dns' own AWS provider
// against a Route 53 that refuses what AWS refuses.
func TestWeightedNamesAreSetsInRoute53(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "weighted")
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
	s.intent("www", weights(90, 10))
	s.instantiate(prod)
	const paris, berlin = "edge+paris %d " + parisAddress, "edge+berlin %d " + berlinAddress
	s.sets(aws, fmt.Sprintf(berlin, 10), fmt.Sprintf(paris, 90))
	s.answersOne(aws, parisAddress)
	s.answersOne(aws, berlinAddress)
	s.pods(fixture.Berlin, false)
	s.sets(aws, fmt.Sprintf(paris, 90)) // the others share
	s.pods(fixture.Berlin, true)
	s.sets(aws, fmt.Sprintf(berlin, 10), fmt.Sprintf(paris, 90))

	s.put(prod+"/traffic-group-intents/front/dns-intents/www", document("www", "web", weights(1, 1)))
	s.update(prod)
	s.sets(aws, fmt.Sprintf(berlin, 1), fmt.Sprintf(paris, 1))
	s.put(prod+"/traffic-group-intents/front/dns-intents/www", document("www", "web", `"hostnames": ["www.aws.example"]`))
	s.update(prod)
	s.sets(aws, parisAddress+" "+berlinAddress) // from several sets to one
	s.terminate(prod)
	s.becomes(prod, "Terminated")
	if names := aws.Names(); len(names) > 0 {
		t.Errorf("the zone still has %v", names)
	}
}

// weights is the spec of a weighted name.
func weights(paris, berlin int) string {
	return fmt.Sprintf(`"hostnames": ["www.aws.example"], "routing": {"policy": "weighted", "weights": {"edge+paris": %d, "edge+berlin": %d}}`, paris, berlin)
}

// sets waits until www.aws.example has these sets of addresses.
func (s *story) sets(aws *route53.Server, want ...string) {
	s.Helper()
	s.eventually("the sets in Route 53", func() error {
		got := aws.Sets("www."+route53.Zone, "A")
		_, err := aws.Quiet()
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("they are %v, want %v", got, want)
		}
		return err
	})
}

// answersOne waits until an answer is this address alone.
func (s *story) answersOne(aws *route53.Server, address string) {
	s.Helper()
	s.eventually(address+" to be answered", func() error {
		got, err := dns.Query(s.Context(), aws.Address, "www."+route53.Zone, "A")
		if err == nil && strings.Join(got, " ") != address {
			err = fmt.Errorf("the answer is %v", got)
		}
		return err
	})
}
