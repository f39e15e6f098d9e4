package syncer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/emco/rsync"
	"github.com/signpost-dns/signpost/pkg/emco/rsync/rsynctest"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// byRsync is a scene in which an rsync, asked over gRPC, puts objects into the
// clusters.
func byRsync(t *testing.T, names ...string) (*scene, *rsynctest.Fake) {
	t.Helper()
	s := newScene(t, names...)
	fake := rsynctest.New(s.kv)
	fake.Apply = func(o bundle.Object) error {
		if at := s.at(o.Cluster); at != nil {
			at.Plant(o)
		}
		return nil
	}
	fake.Delete = func(id bundle.ID) error {
		if at := s.at(id.Cluster); at != nil {
			at.Remove(id)
		}
		return nil
	}
	client, err := rsync.New(rsync.Options{Endpoint: fake.Serve(t)})
	require.NoError(t, err)
	s.rsync = handover.New(handover.Options{KV: s.kv, Contexts: s.contexts, Rsync: client})
	return s, fake
}

func (s *scene) at(name string) *clustertest.Fake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clusters[name]
}

// untouched asserts that Signpost itself changed nothing in a cluster.
func (s *scene) untouched(name string) {
	s.t.Helper()
	assert.Empty(s.t, writes(s.clusters[name]))
}

const web, lab = "projects/shop/web", "provider/projects/shop/lab/public/" + hub

func TestWithRsyncTheWorkerWritesToNoCluster(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, _ := s.start("a")
	all := everything(t, hub)
	s.commit(lab, all[:4]...)
	s.commit(web, all[4])
	s.settled(w, all...)
	for _, o := range all {
		assert.NotNil(t, s.clusters[hub].Live(o.ID), o.ID)
	}
	calls := fake.Calls()
	require.Len(t, calls, 3, "prerequisites, and one context for each owner")

	changed := endpoint(t, hub, "2")
	s.commit(web, changed)
	s.settled(w, changed)
	assert.Equal(t, "2", s.clusters[hub].Content(changed.ID)["spec"])
	calls = fake.Calls()
	require.Len(t, calls, 1)
	assert.Contains(t, calls[0], "update ")

	s.commit(web)
	s.until("the DNSEndpoint is gone", func() bool { return len(s.entries(hub)) == 4 })
	s.commit(lab)
	s.until("all is gone", func() bool { return len(s.entries(hub)) == 0 })
	assert.Nil(t, s.clusters[hub].Live(all[3].ID))
	assert.NotNil(t, s.clusters[hub].Live(all[0].ID), "a namespace may hold what belongs to others")
	assert.NotNil(t, s.clusters[hub].Live(all[1].ID), "so may a definition")
	s.until("the cluster is let go of", func() bool {
		items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: "/signpost/workers/"})
		require.NoError(t, err)
		return len(items) == 0
	})
	s.untouched(hub)
}

// TestOwnersAreHandedOverByThemselves: what one owner has goes, and
// what another one has stays.
func TestOwnersAreHandedOverByThemselves(t *testing.T) {
	t.Parallel()
	s, _ := byRsync(t, hub)
	w, _ := s.start("a")
	space, first, second := namespace(t, hub), config(t, hub, "a", "1"), config(t, hub, "b", "1")
	s.commit("projects/shop/a", space, first)
	s.commit("projects/shop/b", space, second)
	s.settled(w, space, first, second)
	s.commit("projects/shop/a")
	s.until("the first is gone", func() bool { return len(s.entries(hub)) == 2 })
	assert.NotNil(t, s.clusters[hub].Live(second.ID))
	assert.NotNil(t, s.clusters[hub].Live(space.ID))
	assert.Equal(t, ledger.Applied, s.entries(hub)[second.ID].Status)
}

func TestAnObjectThatOwnersShareChangesHandsInOrder(t *testing.T) {
	t.Parallel()
	s, _ := byRsync(t, hub)
	w, _ := s.start("a")
	shared := config(t, hub, "shared", "1")
	s.commit("projects/shop/a", shared)
	s.settled(w, shared)
	s.commit("projects/shop/b", shared)
	s.until("both hold it", func() bool { return len(s.entries(hub)[shared.ID].Owners) == 2 })
	s.commit("projects/shop/a")
	s.until("the other one has it", func() bool {
		e := s.entries(hub)[shared.ID]
		return len(e.Owners) == 1 && e.Status == ledger.Applied && s.clusters[hub].Live(shared.ID) != nil && w.Idle()
	})
}

// TestAClusterThatOnlyRsyncReaches is inventory only for Signpost.
func TestAClusterThatOnlyRsyncReaches(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t)
	w, _ := s.start("a")
	o := endpoint(t, hub, "1")
	s.commit(web, o)
	s.settled(w, o)
	_, there := fake.Has(o.ID)
	assert.True(t, there)
	s.until("the cluster counts as reached", func() bool {
		r, err := s.observed.Reachability(t.Context(), hub)
		require.NoError(t, err)
		return r != nil && r.Reachable && strings.Contains(r.Message, "rsync reaches the cluster")
	})
}

func TestWhatRsyncAppliedIsToldFromWhatWasThere(t *testing.T) {
	t.Parallel()
	s, _ := byRsync(t, hub)
	w, _ := s.start("a")
	o := endpoint(t, hub, "1")
	s.commit(web, o)
	s.settled(w, o)
	first := s.entries(hub)[o.ID]
	assert.Equal(t, s.clusters[hub].Live(o.ID).UID, first.UID)
	assert.Equal(t, int64(1), first.Generation)
	s.commit(web, endpoint(t, hub, "2"))
	s.settled(w, endpoint(t, hub, "2"))
	assert.Equal(t, int64(2), s.entries(hub)[o.ID].Generation)
}

// TestDriftIsRepairedByRsync, where Signpost sees it.
func TestDriftIsRepairedByRsync(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, _ := s.start("a")
	o, other := endpoint(t, hub, "1"), config(t, hub, "a", "1")
	s.commit(web, o, other)
	s.settled(w, o, other)
	for what, drift := range map[string]func(){
		"deleted": func() { s.clusters[hub].Remove(o.ID) },
		"edited":  func() { s.clusters[hub].Plant(endpoint(t, hub, "by hand")) },
	} {
		fake.Calls()
		drift()
		s.until(what+" by hand, it is as it was", func() bool {
			live := s.clusters[hub].Live(o.ID)
			return live != nil && s.clusters[hub].Content(o.ID)["spec"] == "1"
		})
		s.settled(w, o, other)
		s.until("it is known as it is", func() bool {
			e, live := s.entries(hub)[o.ID], s.clusters[hub].Live(o.ID)
			return live != nil && e.UID == live.UID && e.Generation == live.Generation
		})
		assert.LessOrEqual(t, len(fake.Calls()), 3, what)
	}
	s.untouched(hub)
}

func TestRsyncThatIsDownIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	client, err := rsync.New(rsync.Options{Endpoint: "127.0.0.1:1", Timeout: 100 * time.Millisecond})
	require.NoError(t, err)
	up := s.rsync
	s.rsync = handover.New(handover.Options{KV: s.kv, Contexts: s.contexts, Rsync: client})
	_, stop := s.start("a")
	o := endpoint(t, hub, "1")
	s.commit(web, o)
	s.until("the ledger says why nothing happens", func() bool {
		e := s.entries(hub)[o.ID]
		return e.Status == ledger.Retrying && strings.Contains(e.Message, "rsync at 127.0.0.1:1 ")
	})
	stop()
	s.rsync = up
	w, _ := s.start("b")
	s.settled(w, o)
	assert.Len(t, fake.Calls(), 1, "the next worker goes on where the last one stood")
}

func TestWhatMayNotBeHandedOverIsSaid(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, _ := s.start("a")
	secret, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "keys", "namespace": "shop", "annotations": map[string]any{bundle.AnnotationValuesFrom: `{"key":"id"}`}},
	})
	require.NoError(t, err)
	others, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "coredns", "namespace": "kube-system", "annotations": map[string]any{bundle.AnnotationKeys: bundle.OwnKeys}},
	})
	require.NoError(t, err)
	good := config(t, hub, "good", "1")
	s.commit(web, secret, others, good)
	s.settled(w, good)
	assert.Equal(t, ledger.Failed, s.entries(hub)[secret.ID].Status)
	assert.Contains(t, s.entries(hub)[secret.ID].Message, "plain")
	assert.Contains(t, s.entries(hub)[others.ID].Message, "somebody else")
	_, there := fake.Has(secret.ID)
	assert.False(t, there)
	s.commit(web)
	s.until("nothing is left", func() bool { return len(s.entries(hub)) == 0 })
}

func TestAClusterThatWasBuiltAnewGetsEverythingFromRsyncAgain(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, _ := s.start("a")
	all := everything(t, hub)
	s.commit(web, all...)
	s.settled(w, all...)
	fake.Apply = func(o bundle.Object) error { s.at(hub).Plant(o); return nil }
	for _, o := range all {
		delete(fake.Objects, o.ID)
	}
	s.clusters[hub].Rebuild("another")
	s.changed <- hub
	s.until("all is there again", func() bool {
		for _, o := range all {
			if s.clusters[hub].Live(o.ID) == nil {
				return false
			}
		}
		return true
	})
	s.settled(w, all...)
}

func TestWhatIsSuspendedIsNotHandedOver(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, _ := s.start("a")
	s.commit(web, config(t, hub, "a", "1"))
	s.settled(w, config(t, hub, "a", "1"))
	_, handed, _ := strings.Cut(fake.Calls()[0], " ")
	pointer, err := s.contexts.Current(t.Context(), web)
	require.NoError(t, err)
	pointer, err = s.contexts.Suspend(t.Context(), pointer, true)
	require.NoError(t, err)
	_, err = s.contexts.Rewrite(t.Context(), pointer, "web", hub,
		bundle.Diff(bundle.Bundle{config(t, hub, "a", "1")}, bundle.Bundle{config(t, hub, "a", "2")}))
	require.NoError(t, err)
	for _, op := range []kv.Op{kv.Put("/activecontext/"+handed+"/", nil), kv.Delete("/activecontext/" + handed + "/")} {
		_, _, err = s.kv.Txn(t.Context(), nil, op)
		require.NoError(t, err, "rsync does something of its own")
	}
	other := config(t, hub, "b", "1")
	s.commit("projects/shop/other", other)
	s.settled(w, other)
	assert.Equal(t, "1", s.clusters[hub].Content(config(t, hub, "a", "").ID)["spec"])
}

func TestAWithdrawalFindsItsContextsAfterARestart(t *testing.T) {
	t.Parallel()
	s, fake := byRsync(t, hub)
	w, stop := s.start("a")
	o := config(t, hub, "a", "1")
	s.commit(web, o)
	s.settled(w, o)
	stop()
	s.commit(web)
	s.start("b")
	s.until("it is gone", func() bool { return len(s.entries(hub)) == 0 && s.clusters[hub].Live(o.ID) == nil })
	assert.NotEmpty(t, fake.Calls())
	s.until("nothing of it is left in the store", func() bool {
		require.NoError(t, s.contexts.Sweep(t.Context(), 0))
		left, err := kv.Segments(t.Context(), s.kv, "/context/")
		require.NoError(t, err)
		pointer, err := s.contexts.Current(t.Context(), appcontext.Owner(web))
		require.NoError(t, err)
		return len(left) == 1 && left[0] == pointer.Previous
	})
}

func TestAClusterThatDoesNotLetSignpostInIsServedByRsync(t *testing.T) {
	t.Parallel()
	s, _ := byRsync(t, hub)
	s.refused[hub] = errors.New("forbidden")
	w, _ := s.start("a")
	o := config(t, hub, "a", "1")
	s.commit(web, o)
	s.settled(w, o)
	assert.Empty(t, s.entries(hub)[o.ID].UID)
	s.refuse(hub, nil)
	s.until("it is looked at as soon as that may be", func() bool { return s.entries(hub)[o.ID].UID != "" })
	assert.NotEqual(t, cluster.Version{}, s.clusters[hub].Live(o.ID).Version)
}
