package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestASharedRecordStaysUntilItsLastUserGoes(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "shares")
	// Somebody else has a name in the same part of the zone.
	s.must(s.world.Etcd.Put(t.Context(), dns.CoreDNSPath+"/example/lab/shares/printer/x", `{"host": "192.0.2.77"}`))
	s.loadBalancers()
	s.records("lab")
	s.cloud(edges(), "lab")
	s.app()
	blue, green := s.group("blue"), s.group("green")
	s.names(blue, "www", "blue.{zone}")
	s.names(green, "www", "green.{zone}")
	s.instantiate(blue)
	s.instantiate(green)
	s.answers("blue.{zone}", parisAddress, berlinAddress)
	s.answers("green.{zone}", parisAddress, berlinAddress)
	s.users("lab", blue, green)

	s.terminate(blue)
	s.gone("blue.{zone}")
	s.becomes(blue, "Terminated")
	s.users("lab", green)
	s.throughout("the other's name stays", func() error {
		return errors.Join(
			s.answering("green.{zone}", parisAddress, berlinAddress),
			s.present(fixture.Hub, deployments, s.namespace(), "external-dns-lab"))
	})

	s.terminate(green)
	// The name goes first: whoever takes it back must be there until then.
	s.eventually("green.{zone} to go", func() error {
		gone := s.answering("green.{zone}")
		if gone != nil {
			if err := s.present(fixture.Hub, deployments, s.namespace(), "external-dns-lab"); err != nil {
				t.Fatalf("external-dns went before the name: %v", err)
			}
		}
		return gone
	})
	s.becomes(green, "Terminated")
	s.vanishes(fixture.Hub, deployments, s.namespace(), "external-dns-lab")
	s.nothingLeft(fixture.Hub)
	s.users("lab")
	s.must(s.answering("printer.{zone}", "192.0.2.77"))
}

// users waits until these deployment intent groups are the record's users.
func (s *story) users(record string, want ...string) {
	s.Helper()
	s.eventually("the users of "+record, func() error {
		var list struct {
			Items []struct{ DeploymentIntentGroup string }
		}
		if err := s.get("/v2/projects/{p}/dns-update-records/"+record+"/users", &list); err != nil {
			return err
		}
		if len(list.Items) != len(want) {
			return fmt.Errorf("they are %+v", list.Items)
		}
		for i, item := range list.Items {
			if "/v2/"+item.DeploymentIntentGroup != s.words.Replace(want[i]) {
				return fmt.Errorf("they are %+v", list.Items)
			}
		}
		return nil
	})
}
