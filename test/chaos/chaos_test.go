package chaos

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// patience is how long anything may take on a busy machine.
const patience = 3 * time.Minute

// settings are how long things fail (10 minutes in ring 3; SIGNPOST_CHAOS says
// otherwise), and the seed of what fails when.
func settings(t *testing.T) (during time.Duration, seed uint64) {
	t.Helper()
	during = 20 * time.Second * time.Duration(sample.Cases(1, 1, 30))
	if text := os.Getenv("SIGNPOST_CHAOS"); text != "" {
		var err error
		during, err = time.ParseDuration(text)
		require.NoError(t, err, "SIGNPOST_CHAOS")
	}
	return during, sample.Seed(t)
}

// TestWhatWasAcknowledgedSurvivesEverything: every acknowledged write is there
// (I1), all clusters converge when faults end (I3), nobody's objects are touched
// (I4), and no cluster is served by two workers at once, beyond what was under way.
func TestWhatWasAcknowledgedSurvivesEverything(t *testing.T) {
	during, seed := settings(t)
	s := newSite(t)
	addresses := []string{"198.51.100.1", "203.0.113.1"} // of the clusters where apps run
	for n, c := range s.clusters {
		require.NoError(t, fixture.DefineEndpoints(t.Context(), c.Server))
		require.NoError(t, c.LoadBalancer(t.Context(), "shop", "web", addresses[max(0, n-1)]))
		require.NoError(t, c.Apply(t.Context(), strangers))
	}
	names := []string{"g0", "g1", "g2", "g3"}
	s.post(names...)
	ends, end := context.WithCancel(t.Context())
	defer end()
	c := &client{site: s, ends: ends}
	var groups []*renamer
	for _, name := range names {
		groups = append(groups, &renamer{client: c, group: name, may: []string{"h0-" + name + ".lab.example"}})
	}
	wait.For(t, patience, "the beginning", func() error { return s.converged(groups, addresses) })
	theirs := s.prints()
	services := s.serve()

	clouds := []*cloud{{client: c, cluster: s.clusters[1], prefix: "198.51.100"}, {client: c, cluster: s.clusters[2], prefix: "203.0.113"}}
	archives := []*archive{{client: c}, {client: c}}
	var writers sync.WaitGroup
	for _, g := range groups {
		writers.Go(g.write)
	}
	for _, l := range clouds {
		writers.Go(l.write)
	}
	for n, a := range archives {
		writers.Go(func() { a.write(fmt.Sprintf("p%d", n)) })
	}
	s.rage(seed, during, s.lanes()...)
	calm := time.Now()
	end()
	writers.Wait()

	addresses = []string{clouds[0].last, clouds[1].last}
	slices.Sort(addresses)
	wait.For(t, patience, "all to converge", func() error { return s.converged(groups, addresses) })
	t.Logf("all converged %s after the last fault", time.Since(calm).Round(time.Millisecond))
	kept := slices.Concat(archives[0].acknowledged, archives[1].acknowledged)
	s.kept(kept)
	require.Equal(t, theirs, s.prints(), "nobody else's objects are touched")
	services.alone()
	updates := 0
	for _, g := range groups {
		updates += g.updates
	}
	t.Logf("%d projects and %d updates were acknowledged; %d of %d attempts were refused or lost", len(kept), updates, c.refusals, c.answers)
}
