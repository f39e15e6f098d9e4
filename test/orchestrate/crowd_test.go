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

// TestTwoCallersOnOneContextAtOnce: whoever comes first, to one replica or to
// two, the keys are those of one call, and both are told that it is done.
func TestTwoCallersOnOneContextAtOnce(t *testing.T) {
	t.Parallel()
	alone := newStage(t)
	ends := alone.through(func(c call) error { return c.make(alone) })
	one := newStage(t)
	require.Equal(t, ends, one.through(func(c call) error {
		return errors.Join(atOnce(2, func(int) error { return c.make(one) })...)
	}), "at one replica")
	both := newStage(t)
	at := []*stage{both, both.beside()}
	require.Equal(t, ends, both.through(func(c call) error {
		return errors.Join(atOnce(len(at), func(i int) error { return c.make(at[i]) })...)
	}), "at two replicas")
}

// through goes through all calls, and answers the keys after each.
func (s *stage) through(do func(c call) error) (ends []string) {
	s.Helper()
	for _, c := range calls() {
		c.before(s)
		require.NoError(s, do(c), c.name)
		eventually(s.T, "the end of "+c.name, func() error { return s.ended(c) })
		keys, err := s.keys()
		require.NoError(s, err)
		ends = append(ends, keys)
	}
	return ends
}

// TestFiftyContextsAtOnce: each call is answered well inside the ten seconds
// that its caller has, and each context gets what its own group asks for. The
// caller's time is what it is about, so it does not run beside other tests.
func TestFiftyContextsAtOnce(t *testing.T) {
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
	}
	all("PostEvent", func(ctx context.Context, id string) error { return s.event(ctx, id, emco.Instantiated) })
	slices.Sort(hosts)
	s.has(hosts...)
	all("TerminateAppContext", s.terminate)
	s.has()
}

// TestFiftyContextsOfOneGroupAtOnce: nothing keeps somebody from asking for all
// of them, of which one is current in the end. It runs alone, too.
func TestFiftyContextsOfOneGroupAtOnce(t *testing.T) {
	const count = 50
	s := newStage(t)
	ids := make([]string, count)
	for i := range ids {
		ids[i] = emco.NewID()
		require.NoError(t, s.WriteContextAtOnce(t.Context(), s.context(ids[i], prod(), paris, berlin)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), emco.CallTimeout)
	defer cancel()
	require.NoError(t, errors.Join(atOnce(count, func(i int) error { return s.adapt(ctx, ids[i], emco.NoContext) })...))
	s.observes(ids[0], paris, parisAddress)
	require.NoError(t, s.event(t.Context(), ids[0], emco.Instantiated))
	s.has(host + "[" + parisAddress + "]")
}

// TestWhatAnotherControllerWritesMeanwhileIsKept: it writes in several steps and
// by what it has read, as EMCO's own controllers do.
func TestWhatAnotherControllerWritesMeanwhileIsKept(t *testing.T) {
	t.Parallel()
	const count = 20
	s := newStage(t)
	s.writes(first)
	var other errgroup.Group
	other.Go(func() error {
		for i := range count {
			name := fmt.Sprintf("added-%d", i)
			added := emco.Resource{Name: name + "+ConfigMap", Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"}
			if err := s.AddResource(t.Context(), first, "web", paris, added); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, s.adapt(t.Context(), first, emco.NoContext))
	require.NoError(t, other.Wait())
	keys, err := s.Keys(t.Context(), first)
	require.NoError(t, err)
	resources := "/context/" + first + "/app/web/cluster/" + paris + "/resource/"
	require.Contains(t, keys[resources+"web+Deployment/"], "ndots")
	for i := range count {
		require.Contains(t, keys, fmt.Sprintf("%sadded-%d+ConfigMap/", resources, i))
		require.Contains(t, keys[resources+"instruction/order/"], fmt.Sprintf(`added-%d+ConfigMap`, i))
	}

	s.observes(first, paris, parisAddress)
	require.NoError(t, s.event(t.Context(), first, emco.Instantiated))
	s.has(host + "[" + parisAddress + "]")
	own := s.children(1)
	require.NoError(t, s.AddChild(t.Context(), first, "99")) // and the logical cloud is lost
	require.Subset(t, s.children(2), append(own, "99"))
	require.NoError(t, s.Put(t.Context(), first, "meta/", s.context(first, prod()).Meta)) // and the children, too
	require.Equal(t, own, s.children(1))
}

// children waits until the meta of the first context names so many children, and
// answers them.
func (s *stage) children(count int) (children []string) {
	s.Helper()
	eventually(s.T, fmt.Sprintf("%d children", count), func() error {
		keys, err := s.Keys(s.Context(), first)
		if err != nil {
			return err
		}
		children, err = childrenIn(keys["/context/"+first+"/meta/"])
		if err == nil && len(children) != count {
			err = fmt.Errorf("they are %v", children)
		}
		return err
	})
	return children
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
