package emco_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

func TestTheStateIsWhatRsyncSays(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		s := newStore(store)
		_, err := s.State(t.Context(), first)
		refused(t, err, intent.NotFound, "does not exist")
		dump(t, "updated-first").write(t, store)
		dump(t, "updated-second").write(t, store)
		put(t, store, "/context/77/", `"77"`)
		put(t, store, "/context/78/", `"78"`)
		put(t, store, "/context/78/rsync/AppContextEventQueue/", `{"AcQueue":[{"event":"Update","uCID":"77","status":"Skip"},{"event":"Terminate","status":"Pending"},{"event":"Read","status":"Pending"}]}`)
		for id, want := range map[string]emco.State{
			first:  {Status: "Updated", Current: "Updated", Desired: "Updated", Told: "UpdateDelete", Other: second, StatusContext: first},
			second: {Status: "Instantiated", Current: "Instantiated", Desired: "Instantiated", Told: "Update", Other: first, StatusContext: first},
			"77":   {StatusContext: "77"},
			"78":   {StatusContext: "78", Told: "Terminate"},
		} {
			got, err := s.State(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		put(t, store, "/context/77/rsync/state/CurrentState/", `"x"`)
		_, err = s.State(t.Context(), "77")
		refused(t, err, intent.Conflict, "holds no state at")
		put(t, store, "/context/78/rsync/AppContextEventQueue/", `[]`)
		_, err = s.State(t.Context(), "78")
		refused(t, err, intent.Conflict, "holds no queue of events at")
	})
}

// TestTheMetaIsReadOfAContextThatIsNotWhole: EMCO may be writing it still.
func TestTheMetaIsReadOfAContextThatIsNotWhole(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		s := newStore(store)
		_, err := s.Meta(t.Context(), "x")
		refused(t, err, intent.Invalid, "is not an id of an app context")
		_, err = s.Meta(t.Context(), first)
		refused(t, err, intent.NotFound, "app context 4242 does not exist")
		put(t, store, "/context/4242/", `"4242"`)
		_, err = s.Meta(t.Context(), first)
		refused(t, err, intent.Conflict, "has no meta")
		put(t, store, "/context/4242/meta/", `{"Project":7}`)
		_, err = s.Meta(t.Context(), first)
		refused(t, err, intent.Conflict, "/Project is 7, of another type")
		put(t, store, "/context/4242/meta/", `{"Project":"shop","Later":1}`)
		meta, err := s.Meta(t.Context(), first)
		require.NoError(t, err)
		require.Equal(t, emco.Meta{Project: "shop", Raw: []byte(`{"Project":"shop","Later":1}`)}, meta)
	})
}

// TestAddressesAreReadInTheContextThatHasTheStatuses: after an update they are
// still written into the first one.
func TestAddressesAreReadInTheContextThatHasTheStatuses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		dump(t, "updated-first").write(t, store)
		dump(t, "updated-second").write(t, store)
		s := newStore(store)
		for _, id := range []string{first, second} {
			seen, err := s.Observed(t.Context(), read(t, s, id))
			require.NoError(t, err)
			require.Len(t, seen, 2)
			for n, want := range []struct{ cluster, ip string }{{berlin, "203.0.113.20"}, {paris, "203.0.113.10"}} {
				require.Equal(t, want.cluster, seen[n].Cluster)
				require.Equal(t, "web", seen[n].App)
				require.NotZero(t, seen[n].Revision)
				require.NoError(t, seen[n].Err)
				require.Equal(t, &address.Observation{
					Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: want.ip, Field: "status.loadBalancer.ingress[0].ip"}},
				}, seen[n].Service("shop", "web"))
				require.Equal(t, &address.Observation{}, seen[n].Service("shop", "api"), "seen to be absent")
				require.Equal(t, &address.Observation{}, seen[n].Service("other", "web"))
			}
		}
	})
}

func TestOnlyTheIngressOfALoadBalancerCounts(t *testing.T) {
	for name, one := range map[string]struct {
		status string
		want   *address.Observation // of Service web in shop, nil: nothing is known
	}{
		"nothing":             {`{}`, &address.Observation{}},
		"no services":         {`{"serviceStatuses":null}`, &address.Observation{}},
		"no address yet":      {`{"serviceStatuses":[{"metadata":{"name":"web"},"status":{"loadBalancer":{}}}]}`, &address.Observation{Found: true}},
		"external IPs":        {`{"serviceStatuses":[{"metadata":{"name":"web"},"spec":{"externalIPs":["192.0.2.1"],"loadBalancerIP":"192.0.2.2"},"status":{}}]}`, &address.Observation{Found: true}},
		"another namespace":   {`{"serviceStatuses":[{"metadata":{"name":"web","namespace":"other"}}]}`, &address.Observation{}},
		"no namespace":        {`{"serviceStatuses":[{"metadata":{"name":"web"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"},{"hostname":"lb.example"},{}]}}}]}`, &address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: "192.0.2.1", Field: "status.loadBalancer.ingress[0].ip"}, {Kind: address.LoadBalancer, Target: "lb.example", Field: "status.loadBalancer.ingress[1].hostname"}}}},
		"no JSON":             {`{`, nil},
		"null":                {`null`, nil},
		"a list":              {`[]`, nil},
		"another type within": {`{"serviceStatuses":[{"metadata":{"name":7}}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			store := kvtest.NewFake()
			dump(t, "context").with(keys{parisKey + "status/": jsonText(t, one.status)}).write(t, store)
			s := newStore(store)
			seen, err := s.Observed(t.Context(), read(t, s, first))
			require.NoError(t, err)
			require.Len(t, seen, 1, "of the others nothing is known")
			require.Equal(t, one.want, seen[0].Service("shop", "web"))
			require.Equal(t, one.want == nil, seen[0].Err != nil)
		})
	}
}

func TestABrokenStatusHidesNoOther(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	dump(t, "updated-first").with(keys{parisKey + "status/": `broken`}).write(t, store)
	s := newStore(store)
	seen, err := s.Observed(t.Context(), read(t, s, first))
	require.NoError(t, err)
	require.True(t, seen[0].Service("shop", "web").Found)
	require.ErrorContains(t, seen[1].Err, "what the monitor says of app web on "+paris+" cannot be read at "+parisKey+"status/")
	require.Nil(t, seen[1].Service("shop", "web"), "unknown is not empty")
}

// next waits for a change.
func next(t *testing.T, changes <-chan emco.Change) emco.Change {
	t.Helper()
	select {
	case change, ok := <-changes:
		require.True(t, ok, "the watch has ended")
		return change
	case <-time.After(time.Minute):
		require.Fail(t, "no change")
		return emco.Change{}
	}
}

func TestAWatchReportsContextsWhoseStateChanged(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		dump(t, "context").write(t, store)
		ctx, cancel := context.WithCancel(t.Context())
		changes := newStore(store).Watch(ctx, revision(t, store)+1)
		for _, one := range []struct {
			key  string
			want emco.Changed
		}{
			{root + "status/", emco.Changed{ID: first, State: true}},
			{root + "rsync/state/CurrentState/", emco.Changed{ID: first, State: true}},
			{root + "rsync/state/DesiredState/", emco.Changed{ID: first, State: true}},
			{root + "statusappctxid/", emco.Changed{ID: first, State: true}},
			{root + "rsync/AppContextEventQueue/", emco.Changed{ID: first, State: true}},
			{root + "meta/", emco.Changed{ID: first, Meta: true}},
			{parisKey + "status/", emco.Changed{ID: first, Observed: true}},
		} {
			for _, other := range []string{
				root, parisKey, parisKey + "readystatus/", parisKey + "resource/web+Service/", parisKey + "resource/web+Service/status/",
				root + "rsync/state/PendingTerminateFlag/", root + "stopflag/", root + "app/status/", "/activecontext/" + first + "/",
			} {
				put(t, store, other, `"of no interest"`)
			}
			put(t, store, one.key, `{}`)
			require.Equal(t, emco.Change{Contexts: []emco.Changed{one.want}}, next(t, changes), one.key)
		}
		deletes(root)(t, store)
		require.Equal(t, emco.Change{Contexts: []emco.Changed{{ID: first, State: true, Observed: true, Meta: true, Gone: true}}}, next(t, changes), "one batch, one context")
		cancel()
		require.Eventually(t, func() bool { _, open := <-changes; return !open }, time.Minute, time.Millisecond)
	})
}

func TestAWatchSaysWhereHistoryIsLost(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	for n := range 5 {
		put(t, store, root+"status/", fmt.Sprint(n))
	}
	require.NoError(t, store.Compact(t.Context()))
	require.True(t, next(t, newStore(store).Watch(t.Context(), 2)).Lost)
}
