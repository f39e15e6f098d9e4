package orchestrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/test/emco"
)

// atOnce makes calls side by side, and answers what came of each.
func atOnce(count int, call func(i int) error) []error {
	came := make([]error, count)
	var calls errgroup.Group
	for i := range count {
		calls.Go(func() error {
			came[i] = call(i)
			return nil
		})
	}
	_ = calls.Wait() // what came of them is in came
	return came
}

// TestTwoCallersOnOneContextAtOnce: whoever comes first, the keys are those of
// one call, and both are told that it is done.
func TestTwoCallersOnOneContextAtOnce(t *testing.T) {
	t.Parallel()
	const callers = 2
	alone := newStage(t)
	var ends []string
	for _, c := range calls() {
		c.before(alone)
		require.NoError(t, c.make(alone), c.name)
		eventually(t, "the end of "+c.name, func() error { return alone.ended(c) })
		keys, err := alone.keys()
		require.NoError(t, err)
		ends = append(ends, keys)
	}
	both := newStage(t)
	for i, c := range calls() {
		c.before(both)
		require.NoError(t, errors.Join(atOnce(callers, func(int) error { return c.make(both) })...), c.name)
		eventually(t, "the end of "+c.name, func() error { return both.ended(c) })
		keys, err := both.keys()
		require.NoError(t, err)
		require.Equal(t, ends[i], keys, c.name)
	}
}

// TestFiftyContextsAtOnce: each call is answered well inside the ten seconds
// that its caller has, and each context gets what its own group asks for.
func TestFiftyContextsAtOnce(t *testing.T) {
	t.Parallel()
	const count = 50
	s := newStage(t)
	ids, hosts := make([]string, count), make([]string, count)
	for i := range count {
		name := fmt.Sprintf("group-%d", i)
		ids[i] = emco.NewID()
		hosts[i] = fmt.Sprintf("www-%d.lab.example[%s %s]", i, parisAddress, berlinAddress)
		s.emcos("group.yaml", "GROUP", name)
		s.names(name, fmt.Sprintf("www-%d.lab.example", i))
		dig := prod()
		dig.Name = name
		require.NoError(t, s.WriteContextAtOnce(t.Context(), s.context(ids[i], dig, paris, berlin)))
	}
	all := func(what string, call func(ctx context.Context, id string) error) {
		ctx, cancel := context.WithTimeout(t.Context(), emco.CallTimeout)
		defer cancel()
		began := time.Now()
		require.NoError(t, errors.Join(atOnce(count, func(i int) error { return call(ctx, ids[i]) })...), what)
		t.Logf("%s of %d contexts: %s", what, count, time.Since(began).Round(time.Millisecond))
	}
	all("UpdateAppContext", func(ctx context.Context, id string) error { return s.adapt(ctx, id, emco.NoContext) })
	for _, id := range ids {
		keys, err := s.Keys(t.Context(), id)
		require.NoError(t, err)
		for _, cluster := range []string{paris, berlin} {
			require.Contains(t, keys["/context/"+id+"/app/web/cluster/"+cluster+"/resource/web+Deployment/"], "ndots")
			s.observes(id, cluster, map[string]string{paris: parisAddress, berlin: berlinAddress}[cluster])
		}
		s.syncs(id, "Instantiated")
	}
	all("PostEvent", func(ctx context.Context, id string) error { return s.event(ctx, id, emco.Instantiated) })
	slices.Sort(hosts)
	s.has(hosts...)
	all("TerminateAppContext", s.terminate)
	s.has()
}

// has waits until there are exactly these names, with targets, in the hub.
func (s *stage) has(want ...string) {
	s.Helper()
	began := time.Now()
	eventually(s.T, fmt.Sprintf("%d names", len(want)), func() error {
		hosts, err := s.hosts()
		if err == nil && !slices.Equal(hosts, want) {
			err = fmt.Errorf("they are %v", strings.Join(hosts, ", "))
		}
		return err
	})
	s.Logf("%d names are there after %s", len(want), time.Since(began).Round(time.Millisecond))
}
