package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func (w *world) abandon(cluster string, force bool) ([]intent.LeftBehind, error) {
	return w.service.Abandon(context.Background(), clusterPath(w.TB, cluster), force, "ann")
}

func (w *world) abandoned(cluster string) *intent.Abandoned {
	w.Helper()
	found, err := w.service.Abandoned(context.Background(), clusterPath(w.TB, cluster))
	require.NoError(w, err)
	return found
}

// dies has a cluster never come back, and abandons it.
func (w *world) dies(cluster string) []intent.LeftBehind {
	w.Helper()
	w.down[cluster] = true
	require.NoError(w, w.rest())
	left, err := w.abandon(cluster, false)
	require.NoError(w, err)
	return left
}

// manned is prod of the main story with an object of its own in both edges, and
// a name of cluster scope in Paris.
func manned(t testing.TB) *world {
	w := newShop(t)
	w.associate("cluster-providers/edge/clusters/paris", "corp")
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}]}]}`, eu)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.corp.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	return w
}

// withoutParis takes Paris out of the logical cloud.
func (w *world) withoutParis() {
	w.Helper()
	require.NoError(w, w.delete(eu.Child("cluster-references", "paris")))
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
}

func TestAbandonTellsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := manned(t)
	left := w.dies(paris)
	var lines []string
	for _, object := range left {
		name, _, _ := strings.Cut(object.Name, "-")
		lines = append(lines, fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, name))
	}
	for _, line := range []string{"ConfigMap shop/settings", "Namespace /shop", "Deployment shop-dns/external", "DNSEndpoint shop-dns/web"} {
		require.Contains(t, lines, line)
	}
	again, err := w.abandon(paris, false)
	require.NoError(t, err)
	require.Equal(t, left, again, "the same list, as often as it is asked for")
	require.Equal(t, "ann", w.abandoned(paris).Actor)
	require.Nil(t, w.abandoned(berlin))

	_, err = w.abandon("edge+rome", false)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	left, err = newShop(t).abandon(hub, false)
	require.NoError(t, err)
	require.Equal(t, []intent.LeftBehind{}, left, "nothing was ever there")
}

// TestAnAbandonedClusterLeavesPublicNames: nothing dead stays published; of
// what its own external-dns has published it says so.
func TestAnAbandonedClusterLeavesPublicNames(t *testing.T) {
	t.Parallel()
	w := manned(t)
	w.dies(paris)
	w.settle(prod)
	require.Contains(t, w.published(prod), "edge+hub lab/public: www.lab.example A 203.0.113.10")
	w.restartOn(w.fake)
	w.settle(prod)
	require.Contains(t, w.published(prod), "edge+hub lab/public: www.lab.example A 203.0.113.10")
	snap := w.snapshot(prod)
	require.Equal(t, "ann", snap.Clusters[paris].Abandoned.Actor)
	require.Empty(t, snap.Clusters[paris].Entries)
	require.Nil(t, snap.Clusters[berlin].Abandoned)

	err := w.service.Undrain(context.Background(), clusterPath(t, paris), intent.DrainOptions{Actor: "ann"})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "edge+paris is abandoned")
}

func TestAbandonNeverLeavesANameWithoutAddressUnlessForced(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.dies(paris)
	_, err := w.abandon(berlin, false)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "edge+berlin has the last addresses of www.lab.example")
	require.Nil(t, w.abandoned(berlin))
	_, err = w.abandon(berlin, true)
	require.NoError(t, err)
	w.settle(prod)
	require.Empty(t, w.published(prod))
}

// TestNobodyWaitsForAnAbandonedCluster: neither to instantiate, nor to update,
// nor to terminate.
func TestNobodyWaitsForAnAbandonedCluster(t *testing.T) {
	t.Parallel()
	t.Run("Instantiated", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}]}]}`, eu)
		w.do(intent.Instantiate, prod)
		w.down[paris] = true
		require.NoError(t, w.rest())
		require.Equal(t, intent.Instantiating, w.state(prod))
		w.dies(paris)
		w.settle(prod)
		require.Equal(t, intent.Instantiated, w.state(prod))
	})
	t.Run("updated without it", func(t *testing.T) {
		t.Parallel()
		w := manned(t)
		w.dies(paris)
		w.withoutParis()
		w.do(intent.Update, prod)
		w.settle(prod)
		require.Equal(t, intent.Instantiated, w.state(prod))
		require.Empty(t, w.snapshot(prod).Lifecycle.RemovedClusters)
	})
	t.Run("Terminated", func(t *testing.T) {
		t.Parallel()
		w := manned(t)
		w.down[paris] = true
		require.NoError(t, w.rest())
		w.do(intent.Terminate, prod)
		w.outlive()
		require.Equal(t, intent.Terminating, w.state(prod))
		w.dies(paris)
		w.settle(prod)
		require.Equal(t, intent.Terminated, w.state(prod))
		require.Empty(t, w.inClustersBut(paris))
	})
}

// inClustersBut are the objects of all clusters but one.
func (w *world) inClustersBut(cluster string) []string {
	w.Helper()
	var out []string
	for _, line := range w.inClusters() {
		if !strings.HasPrefix(line, cluster+" ") {
			out = append(out, line)
		}
	}
	return out
}

// TestTheDocumentOfAnAbandonedClusterCanBeDeleted: nothing holds it that only
// stood there; and registered again, it starts over.
func TestTheDocumentOfAnAbandonedClusterCanBeDeleted(t *testing.T) {
	t.Parallel()
	w := manned(t)
	w.dies(paris)
	w.withoutParis()
	require.Error(t, w.delete(clusterPath(t, paris)), "the release that uses it still stands")
	w.do(intent.Update, prod)
	w.settle(prod)
	require.NoError(t, w.delete("cluster-providers/edge/clusters/paris/kv-pairs/"+intent.AssociationName))
	require.NoError(t, w.delete(clusterPath(t, paris)))
	require.NoError(t, w.delete(corp), "nothing holds the record that was deployed there alone")

	w.put(clusterPath(t, paris), `{"kubeconfigRef":"another"}`)
	require.Nil(t, w.abandoned(paris))
	delete(w.down, paris)
	w.member(eu, "paris")
	w.observe(paris, "shop/web", "203.0.113.99")
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.99"}, w.published(prod))
	require.True(t, w.holds(paris, "ConfigMap", "settings"))
}

// TestAnAbandonmentEndsWithTheDocument: whether or not anybody looks at it, all
// that was known of the cluster goes with it.
func TestAnAbandonmentEndsWithTheDocument(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put("cluster-providers/edge/clusters/rome", `{"kubeconfigRef":"sealed"}`)
	w.observe("edge+rome", "shop/web", "203.0.113.30")
	w.dies("edge+rome")
	require.NoError(t, w.service.LiftAbandoned(t.Context()))
	require.NotNil(t, w.abandoned("edge+rome"), "as long as the document is there")
	require.NoError(t, w.delete("cluster-providers/edge/clusters/rome"))
	require.NoError(t, w.service.LiftAbandoned(t.Context()))
	for key := range w.keys() {
		require.NotContains(t, key, "edge+rome")
	}
}

func TestNothingIsPlacedOnAnAbandonedCluster(t *testing.T) {
	t.Parallel()
	const remedy = "cluster edge+paris is abandoned, so Signpost does not serve it; use another cluster, or delete the cluster's document and register it again"
	t.Run("by instantiate", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.dies(paris)
		w.refuses(intent.Instantiate, prod, remedy)
	})
	t.Run("by update", func(t *testing.T) {
		t.Parallel()
		w := running(t)
		w.dies(paris)
		w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
		w.refuses(intent.Update, prod, remedy)
	})
	t.Run("by rollback", func(t *testing.T) {
		t.Parallel()
		w := manned(t)
		w.dies(paris)
		w.withoutParis()
		w.do(intent.Update, prod)
		w.settle(prod)
		before := w.keys()
		_, err := w.service.Rollback(t.Context(), prod, 1, "", "ann")
		require.Equal(t, intent.Conflict, intent.CodeOf(err))
		require.ErrorContains(t, err, remedy)
		require.Equal(t, before, w.keys())
	})
	t.Run("by the update of a record", func(t *testing.T) {
		t.Parallel()
		w := running(t)
		w.dies(paris)
		require.ErrorContains(t, w.moveTo("paris"), remedy)
		require.False(t, w.snapshot(prod).Providers[0].Waiting)
	})
}

// TestThePlanTellsWhatIsNotDeleted: where nobody is there to delete it.
func TestThePlanTellsWhatIsNotDeleted(t *testing.T) {
	t.Parallel()
	const said = "cluster edge+paris is abandoned: nothing is deleted there"
	w := manned(t)
	w.dies(paris)
	require.Contains(t, fmt.Sprint(w.plan(prod, intent.Terminate).Warnings), said)
	w.withoutParis()
	require.Contains(t, fmt.Sprint(w.plan(prod, intent.Update).Warnings), said)
	require.Empty(t, w.plan(prod, intent.Update).Errors)
}

// TestNamesOfAnAbandonedHomeAreLeftovers: nobody removes them, and status says
// so.
func TestNamesOfAnAbandonedHomeAreLeftovers(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.dies(hub)
	w.do(intent.Terminate, prod)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod), "nobody waits for names to be removed")
	require.Equal(t, []intent.Leftover{{
		Name: "www.lab.example", Type: "A", Record: "lab", Reason: "the home of its external-dns, edge+hub, is abandoned",
	}}, w.snapshot(prod).Lifecycle.Leftovers)
	require.NoError(t, w.delete(lab), "nothing holds the record")
}

// TestARecordMovesAwayFromAnAbandonedHome: the new external-dns has the same
// owner id, and takes the names over.
func TestARecordMovesAwayFromAnAbandonedHome(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.dies(hub)
	w.put(lab, record("lab.example", `,"txtPrefix":"x"`))
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.ErrorContains(t, err, "cluster edge+hub is abandoned")
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	require.True(t, w.runs(labOnParis))
	require.Equal(t, []string{wwwOnParis}, w.published(prod))
	w.put(eu, `{"namespace":"shop"}`)
	require.NoError(t, w.delete(clusterPath(t, hub)), "nothing holds the former home any more")
}

// TestAMoveGoesOnWhenTheFormerHomeIsAbandoned: it has waited to know that the
// external-dns there has stopped.
func TestAMoveGoesOnWhenTheFormerHomeIsAbandoned(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.down[hub] = true
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.rest())
	require.False(t, w.runs(labOnParis))
	w.dies(hub)
	w.settle(prod)
	require.True(t, w.runs(labOnParis))
}

// TestAMoveToAHomeThatIsAbandonedMayGoElsewhere: it would not end there.
func TestAMoveToAHomeThatIsAbandonedMayGoElsewhere(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.down[hub] = true
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.rest())
	require.ErrorContains(t, w.moveTo("berlin"), "cannot be updated")
	w.dies(paris)
	require.NoError(t, w.moveTo("berlin"))
	delete(w.down, hub)
	w.settle(prod)
	require.True(t, w.runs(state.Use{Record: lab, Scope: intent.Public, Cluster: berlin}))
	require.Equal(t, []string{"edge+berlin lab/public: www.lab.example A 203.0.113.10"}, w.published(prod))
}

// TestAbandonSurvivesCrashes: wherever the process dies that abandons, or one
// that terminates afterwards, asking again and the next process end it (I1).
func TestAbandonSurvivesCrashes(t *testing.T) {
	t.Parallel()
	tell := func(l *life) {
		l.ask("instantiate", intent.Instantiate, prod)
		l.part(l.rest)
		l.down[paris] = true
		l.part(l.rest)
		l.part(func() error { _, err := l.abandon(paris, false); return err })
		l.part(l.rest)
		l.ask("terminate", intent.Terminate, prod)
		l.part(l.rest)
		l.clock.pass(70 * 1e9)
		l.part(l.rest)
		require.NoError(l, l.delete(eu.Child("cluster-references", "paris")))
		require.NoError(l, l.delete(clusterPath(l, paris)))
		l.part(func() error { return l.service.LiftAbandoned(context.Background()) })
	}
	undisturbed := newLife(newShop(t), 0, false)
	tell(undisturbed)
	require.Equal(t, intent.Terminated, undisturbed.state(prod))
	deaths(t, undisturbed.process.writes, func(last int, after bool) {
		l := newLife(newShop(t), last, after)
		tell(l)
		require.Equal(t, undisturbed.picture(), l.picture(), "write %d, after it: %t", last, after)
		require.Empty(t, l.keysOf(paris))
	})
}

// keysOf are the keys of the ledger, the observations and the abandonment that
// speak of a cluster.
func (w *world) keysOf(cluster string) []string {
	w.Helper()
	var out []string
	for key := range w.keys() {
		for _, prefix := range []string{"/signpost/ledger/", "/signpost/observed/", ledger.AbandonedPrefix} {
			if strings.HasPrefix(key, prefix+cluster) {
				out = append(out, key)
			}
		}
	}
	return out
}

// TestARequestThatRacesWithTheDocument: an abandonment of what is registered
// anew meanwhile holds for nobody.
func TestARequestThatRacesWithTheDocument(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put("cluster-providers/edge/clusters/rome", `{"kubeconfigRef":"sealed"}`)
	rome := clusterPath(t, "edge+rome")
	w.meanwhile("edge+rome", func() {
		require.NoError(t, w.delete(rome))
		w.put(rome, `{"kubeconfigRef":"another"}`)
	})
	_, err := w.abandon("edge+rome", false)
	require.NoError(t, err)
	require.Nil(t, w.abandoned("edge+rome"))
	seen, err := observed.New(w.fake).Clusters(t.Context())
	require.NoError(t, err)
	require.NotContains(t, seen, "edge+rome")
}
