package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
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

// TestAnUpdateOfAProviderReadsItsNamesTogether: if addresses do not depend on what it alters, it reads no names. If they do,
// and when it moves the provider, it reads many names in few requests.
func TestAnUpdateOfAProviderReadsItsNamesTogether(t *testing.T) {
	t.Parallel()
	const few, many = 40, 100
	costs := map[string]map[int]storeCost{"podLabels": {}, "allowPrivate": {}, "deployOn": {}}
	for _, names := range []int{few, many} {
		w, store, _ := manyNames(t, names)
		require.NoError(t, w.service.KeepHealth(t.Context()))
		for what, spec := range map[string]string{
			"podLabels": `,"podLabels":{"team":"dns"}`, "allowPrivate": `,"allowPrivate":true`,
			"deployOn": `,"deployOn":{"clusterProvider":"edge","cluster":"paris"}`,
		} {
			w.put(lab, record("lab.example", spec))
			costs[what][names] = store.of(t, what, func() error {
				plan, err := w.service.PlanRecord(t.Context(), lab, "")
				require.Empty(t, plan.Errors)
				return err
			})
		}
	}
	require.Equal(t, costs["podLabels"][few], costs["podLabels"][many])
	for what, cost := range costs {
		require.Equal(t, cost[few].Reads, cost[many].Reads, what)
	}
}

// TestNamesThatGoTogetherReadTheirOwn: when a Service that many names follow is gone, each of their steps judges its own name. The
// names of the provider are counted seldom, and so they are when names are deleted one by one.
func TestNamesThatGoTogetherReadTheirOwn(t *testing.T) {
	t.Parallel()
	const few, many = 40, 100
	lost, again, deleted := map[int]storeCost{}, map[int]storeCost{}, map[int]storeCost{}
	for _, names := range []int{few, many} {
		w, store, all := manyNames(t, names)
		require.NoError(t, w.service.KeepHealth(t.Context()))
		last := len(all) - guard.Few - 2
		for n, name := range all[last+1:] {
			cost := store.of(t, "a deletion", func() error {
				_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
				return err
			})
			if n == guard.Few {
				deleted[names] = cost
			}
		}
		for _, cluster := range []string{berlin, paris} {
			writer, err := w.observed.Writer(t.Context(), cluster, fence)
			require.NoError(t, err)
			require.NoError(t, writer.SetService(t.Context(), "shop", "front", address.Observation{}))
		}
		for _, name := range all[:last] {
			require.NoError(t, w.step(name))
		}
		lost[names] = store.of(t, "the step of a name that is held", func() error { return w.step(all[last]) })
		again[names] = store.of(t, "the next one", func() error { return w.step(all[last]) })
		require.Len(t, w.published(all[last]), 1, "it stays")
	}
	require.Equal(t, lost[few], lost[many])
	require.Equal(t, again[few], again[many])
	require.Equal(t, deleted[few].Reads, deleted[many].Reads, "it counts all names, in few requests")
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

// TestAClusterOfManyNamesIsReadTogether: what becomes of its names, and what it is used for, is read in few requests.
func TestAClusterOfManyNamesIsReadTogether(t *testing.T) {
	t.Parallel()
	const few, many = 30, 60
	costs := map[string]map[int]storeCost{"preview": {}, "drain": {}, "uses": {}}
	cluster := intent.Path("cluster-providers/edge/clusters/berlin")
	for _, names := range []int{few, many} {
		w, store, _ := manyNames(t, names)
		require.NoError(t, w.service.KeepHealth(t.Context()))
		costs["preview"][names] = store.of(t, "preview", func() error {
			preview, err := w.service.PreviewFailover(t.Context(), intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}, intent.FailoverOptions{})
			require.Equal(t, names, preview.Counts.Names)
			return err
		})
		costs["uses"][names] = store.of(t, "uses", func() error { _, err := w.service.UsesOf(t.Context(), cluster); return err })
		costs["drain"][names] = store.of(t, "drain", func() error { return w.service.Drain(t.Context(), cluster, intent.DrainOptions{Actor: "ann"}) })
	}
	for what, cost := range costs {
		require.Equal(t, cost[few].Reads, cost[many].Reads, what)
		require.Less(t, cost[many].Items, 3*cost[few].Items, what)
	}
}
