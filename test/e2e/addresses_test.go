package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestAChangedLoadBalancerAddressFollowsWithoutACall(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "follows")
	s.published()

	changed := time.Now()
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))

	s.eventually("the DNSEndpoint to follow", func() error {
		return s.pointing("www.{zone}", berlinAddress, otherAddress)
	})
	t.Logf("the DNSEndpoint followed after %s", time.Since(changed).Round(10*time.Millisecond))

	missing := 0 // answers without the edge that did not change
	s.eventually("the answer to follow", func() error {
		got, err := s.dig("www.{zone}")
		if err != nil {
			return err
		}
		if !slices.Contains(got, berlinAddress) {
			missing++
		}
		if !slices.Equal(got, []string{berlinAddress, otherAddress}) {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
	t.Logf("the answer followed after %s", time.Since(changed).Round(100*time.Millisecond))
	if missing > 0 {
		t.Errorf("%d answers lacked %s, which did not change", missing, berlinAddress)
	}
}

func TestAnEditDoesNotLeakBeforeUpdate(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "leak")
	s.published()

	// An edit of the intent, and then something that makes Signpost work.
	s.put(prod+"/traffic-group-intents/front/dns-intents/www", dnsIntent("www", "new.{zone}"))
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))

	s.answers("www.{zone}", berlinAddress, otherAddress)
	s.throughout("new.{zone} to be nowhere", func() error {
		return errors.Join(s.answering("new.{zone}"), s.pointing("new.{zone}"))
	})

	s.update(prod)
	s.becomes(prod, "Instantiated")
	s.answers("new.{zone}", berlinAddress, otherAddress)
	s.gone("www.{zone}")
}
