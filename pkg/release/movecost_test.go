package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// manyNames are so many names of the provider lab that are published by a store that counts.
func manyNames(t *testing.T, many int) (*world, *costing, []intent.Path) {
	w := newNames(t)
	store := &costing{KV: w.fake}
	w.restartOn(store)
	var all []intent.Path
	for n := range many {
		all = append(all, intent.Path(fmt.Sprintf("projects/shop/names/n%03d.lab.example", n)))
		require.NoError(t, w.publish(all[n], ofFront))
		if n == 0 {
			w.settle(all[n]) // the namespaces of the Service are the project's then
		}
	}
	w.settle(all...)
	return w, store, all
}

// TestAMoveReadsInProportionToTheNames: when each name looks whether all have followed, it does not read all of them.
func TestAMoveReadsInProportionToTheNames(t *testing.T) {
	t.Parallel()
	items := map[int]int{}
	for _, many := range []int{36, 72} {
		w, store, all := manyNames(t, many)
		require.NoError(t, w.moveTo("paris"))
		items[many] = store.of(t, "the move", func() error { w.settle(all...); return nil }).Items
		require.True(t, w.runs(labOnParis))
		l, err := w.service.RecordLifecycle(t.Context(), lab)
		require.NoError(t, err)
		require.False(t, l.Moving)
		for _, name := range all {
			require.Len(t, w.published(name), 1)
		}
	}
	require.InDelta(t, 2*items[36], items[72], float64(items[36])/2, "twice the names")
}

// TestANameThatWaitsForADeadHomeReadsItsOwn: it looks at its former home again and again, which may have very many others.
func TestANameThatWaitsForADeadHomeReadsItsOwn(t *testing.T) {
	t.Parallel()
	costs := map[int]storeCost{}
	for _, many := range []int{2, 100} {
		w, store, all := manyNames(t, many)
		w.put("projects/shop/dns-update-records/other", record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
		require.NoError(t, w.publish(all[0], `{"service":"shop/front","clusters":["edge/berlin","edge/paris"],"provider":"other"}`))
		for range 5 {
			require.NoError(t, w.step(all[0])) // nobody applies anything, so that it stays in its former home
		}
		l, err := w.service.StoredLifecycle(t.Context(), all[0])
		require.NoError(t, err)
		require.Contains(t, append(l.RemovedClusters, homes(l.Draining)...), hub)
		costs[many] = store.of(t, "a step", func() error { return w.step(all[0]) })
	}
	require.Equal(t, costs[2], costs[100])
}

func homes(uses []state.Use) (clusters []string) {
	for _, use := range uses {
		clusters = append(clusters, use.Cluster)
	}
	return clusters
}
