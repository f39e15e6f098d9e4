package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/route53"
)

const adoptingRecord = `{
	"metadata": {"name": "lab"},
	"spec": {
		"provider": "aws",
		"external-dns-parameters": {"policy": "sync", "interval": "5s", "domain-filter": ["aws.example"] %s},
		"environment": {"AWS_ENDPOINT_URL_ROUTE_53": %q, "AWS_REGION": "eu-central-1"},
		"credentials": [
			{"environment": "AWS_ACCESS_KEY_ID", "value": "AKIDEXAMPLE"},
			{"environment": "AWS_SECRET_ACCESS_KEY", "value": "of nobody"}
		],
		"verify": {"servers": [%q]},
		"releaseTimeout": "45s"
	}
}`

const labRecord = "/v2/projects/{p}/dns-update-records/lab"

// TestANameOfAnotherExternalDNSIsAdopted while that one goes on: the name is
// never away, is changed from then on by who has adopted it, and what else the
// other one has stays as it is.
func TestANameOfAnotherExternalDNSIsAdopted(t *testing.T) {
	t.Parallel()
	world := sharedWorld(t)
	aws, err := route53.Start(t.Context(), world.Ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(aws.Close)
	legacy := begin(t, world, "legacy", "--allow-local-verify")
	legacy.inRoute53(aws, `, "txt-owner-id": "legacy"`, "www.aws.example", "keep.aws.example")
	const theirs, ours = parisAddress + " " + berlinAddress, berlinAddress + " " + otherAddress
	legacy.has(aws, "www", theirs, "legacy")
	legacy.has(aws, "keep", theirs, "legacy")

	s := begin(t, world, "adopts", "--allow-local-verify")
	s.inRoute53(aws, "", "www.aws.example")
	s.must(world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.eventually("the name to be seen as another's", func() error {
		plan := s.call(http.MethodPost, labRecord+"/plan?adopt=legacy", "", http.StatusOK)
		if text := string(plan.Body); !strings.Contains(text, `www.aws.example, marked with owner id \"legacy\", become`) {
			return fmt.Errorf("the plan is %s", text)
		}
		return nil
	})
	s.call(http.MethodPost, labRecord+"/update?adopt=nobody", "", http.StatusConflict)
	s.has(aws, "www", theirs, "legacy")

	aws.Keep("www.aws.example", "keep.aws.example")
	s.call(http.MethodPost, labRecord+"/update?adopt=legacy", "", http.StatusAccepted)
	s.has(aws, "www", ours, "sp-")
	s.eventually("the adoption to be over", func() error {
		return s.runsWith("--policy=sync", "--migrate-from-txt-owner")
	})
	s.must(world.Cluster(fixture.Berlin).SetLoadBalancer(t.Context(), s.project, "web", "203.0.113.77"))
	s.has(aws, "www", "203.0.113.77 "+otherAddress, "sp-")
	s.throughout("www to be ours and keep to be the other's", func() error {
		if err := owned(aws, "keep", theirs, "legacy"); err != nil {
			return err
		}
		return owned(aws, "www", "203.0.113.77 "+otherAddress, "sp-")
	})
	if _, err := aws.Quiet(); err != nil {
		t.Error(err)
	}
	aws.Keep()
	s.terminate(prod)
	s.becomes(prod, "Terminated")
	legacy.has(aws, "www", theirs, "legacy") // who still wants it has it back
}

// inRoute53 has the story give names in Route 53.
func (s *story) inRoute53(aws *route53.Server, parameters string, hostnames ...string) {
	s.Helper()
	s.loadBalancers()
	s.post("/v2/project/{p}/dns-update-records", fmt.Sprintf(adoptingRecord, parameters, aws.URL, aws.Address))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	s.intent("www", `"hostnames": ["`+strings.Join(hostnames, `", "`)+`"]`)
	s.instantiate(prod)
}

// has waits until a name of Route 53 has these addresses and this owner.
func (s *story) has(aws *route53.Server, label, addresses, owner string) {
	s.Helper()
	s.eventually(label+" to be "+addresses+" of "+owner, func() error { return owned(aws, label, addresses, owner) })
}

// owned expects a name of Route 53 to have these addresses and this owner now.
func owned(aws *route53.Server, label, addresses, owner string) error {
	sets, marks := aws.Sets(label+"."+route53.Zone, "A"), aws.Sets("a-"+label+"."+route53.Zone, "TXT")
	if len(sets) != 1 || sets[0] != addresses || len(marks) != 1 || !strings.Contains(marks[0], "external-dns/owner="+owner) {
		return fmt.Errorf("%s is %v, marked %v", label, sets, marks)
	}
	return nil
}

// runsWith expects the external-dns of record lab to have one argument now, and
// none that begins with another.
func (s *story) runsWith(argument, without string) error {
	found, err := s.world.Cluster(fixture.Hub).Get(s.Context(), deployments, s.namespace(), "external-dns-lab")
	if err != nil {
		return err
	}
	if text := fmt.Sprint(found.Object["spec"]); !strings.Contains(text, argument) || strings.Contains(text, without) {
		return fmt.Errorf("it is %s", text)
	}
	return nil
}
