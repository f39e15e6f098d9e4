package e2e

import (
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// An edge's addresses count while the Service has a ready endpoint there, and
// what becomes of a name without any is what its intent says.

func TestAnEdgeThatLosesItsLastReadyEndpointLeavesTheAnswerAndComesBack(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "ready")
	s.pods(fixture.Paris, true)
	s.pods(fixture.Berlin, true)
	s.published()

	s.pods(fixture.Paris, false)
	s.answers("www.{zone}", berlinAddress)
	s.rejects(parisAddress, "no ready endpoint")
	s.must(s.signpost.Restart(t.Context()))
	s.throughout("a restart forgets nothing", func() error { return s.pointing("www.{zone}", berlinAddress) })

	s.pods(fixture.Paris, true)
	s.answers("www.{zone}", parisAddress, berlinAddress)
}

func TestWhenAllEdgesAreUnhealthyTheNameIsKeptOrRemovedAsItsIntentSays(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "unhealthy")
	s.pods(fixture.Paris, true)
	s.pods(fixture.Berlin, true)
	s.prepared()
	s.intent("kept", `"hostnames": ["kept.{zone}"]`)
	s.intent("removed", `"hostnames": ["removed.{zone}"], "health": {"whenAllUnhealthy": "remove"}`)
	s.intent("blind", `"hostnames": ["blind.{zone}"], "health": {"readyEndpoints": false, "whenAllUnhealthy": "remove"}`)
	s.instantiate(prod)
	for _, name := range []string{"kept.{zone}", "removed.{zone}", "blind.{zone}"} {
		s.answers(name, parisAddress, berlinAddress)
	}

	s.pods(fixture.Paris, false)
	s.answers("kept.{zone}", berlinAddress)
	s.answers("removed.{zone}", berlinAddress)
	s.pods(fixture.Berlin, false)
	s.gone("removed.{zone}")
	s.must(s.answering("kept.{zone}", berlinAddress)) // what was published last
	s.must(s.answering("blind.{zone}", parisAddress, berlinAddress))

	s.pods(fixture.Paris, true)
	s.answers("kept.{zone}", parisAddress)
	s.answers("removed.{zone}", parisAddress)
}

// pods has the pods of the Service web in a cluster be ready, or not.
func (s *story) pods(cluster string, ready bool) {
	s.Helper()
	s.must(s.world.Cluster(cluster).Namespace(s.Context(), s.project))
	s.must(s.world.Cluster(cluster).SetPods(s.Context(), s.project, "web", ready, "10.1.0.1", "10.1.0.2"))
}
