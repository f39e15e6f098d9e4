package syncer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// measured are a metric's values over all of its labels: of a histogram the sum of
// what it has seen, and how often.
func measured(t *testing.T, registry *prometheus.Registry, name string) (value float64, times uint64) {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			value += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
			times += m.GetHistogram().GetSampleCount()
		}
	}
	return value, times
}

// metric is the value of a gauge or a counter of the worker that was started last.
func (s *scene) metric(name string) float64 {
	s.t.Helper()
	value, _ := measured(s.t, s.metrics, name)
	return value
}

// TestSyncLagIsFromTheContextToTheCluster: once for each object that a context brings
// or changes, and not for what is merely put back.
func TestSyncLagIsFromTheContextToTheCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	s.contexts = appcontext.NewStore(s.kv, func() time.Time { return time.Now().Add(-time.Hour) })
	objects := everything(t, hub)
	s.commit("dig", objects...)
	w, _ := s.start("a")
	lag := func(times int) {
		t.Helper()
		seconds, counted := measured(t, s.metrics, "signpost_sync_lag_seconds")
		require.EqualValues(t, times, counted)
		require.InDelta(t, time.Hour.Seconds()*float64(times), seconds, patience.Seconds()*float64(times))
	}
	s.settled(w, objects...)
	lag(len(objects))
	objects[3] = deployment(t, hub, "2")
	s.commit("dig", objects...)
	s.settled(w, objects...)
	lag(len(objects) + 1)
	s.clusters[hub].Remove(objects[2].ID)
	s.until("it is put back", func() bool { return s.metric("signpost_sync_drift_repaired_total") == 1 && w.Idle() })
	lag(len(objects) + 1)
}

// TestAConflictIsCountedOnce: however often it is looked at, until it is another one.
func TestAConflictIsCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		s.clock = hasty{time.Now()}
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		f.Plant(config(t, hub, "a", "theirs"))
		f.Plant(config(t, hub, "b", "theirs"))
		s.start("a")
		ours := config(t, hub, "a", "ours")
		s.commit("dig", ours, config(t, hub, "b", "ours"), config(t, hub, "c", "ours"))
		s.until("both are told", func() bool { return s.metric("signpost_sync_conflicts_total") == 2 })
		looks := func() (n int) {
			for _, r := range f.Requests() {
				if r.Verb == "get" && r.ID == ours.ID {
					n++
				}
			}
			return n
		}
		before := looks()
		s.until("they are looked at again", func() bool { return looks() > before+1 })
		require.InDelta(t, 2, s.metric("signpost_sync_conflicts_total"), 0)
		f.Remove(ours.ID)
		s.until("the other one is not any more", func() bool { return s.entries(hub)[ours.ID].Status == ledger.Applied })
		require.InDelta(t, 2, s.metric("signpost_sync_conflicts_total"), 0)
	})
}

// TestClustersOwnedAreThoseThatAWorkerServes: they are shared out, and taken over.
func TestClustersOwnedAreThoseThatAWorkerServes(t *testing.T) {
	t.Parallel()
	names := []string{"edge+c1", "edge+c2", "edge+c3", "edge+c4", "edge+c5", "edge+c6", "edge+c7", "edge+c8"}
	s := newScene(t, names...)
	for _, name := range names {
		s.commit("of "+name, namespace(t, name))
	}
	_, stop := s.start("a")
	first := s.metrics
	owned := func() float64 { value, _ := measured(t, first, "signpost_clusters_owned"); return value }
	s.until("the first has all", func() bool { return owned() == 8 })
	s.start("b")
	s.until("they are shared out", func() bool {
		return owned() > 0 && s.metric("signpost_clusters_owned") > 0 && owned()+s.metric("signpost_clusters_owned") == 8
	})
	stop()
	s.until("the second takes over", func() bool { return s.metric("signpost_clusters_owned") == 8 })
	require.Zero(t, s.metric("signpost_leases_lost_total"))
}

// TestALeaseThatIsLostIsCounted, and one that is given back is not.
func TestALeaseThatIsLostIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		object := config(t, hub, "a", "1")
		s.commit("dig", namespace(t, hub), object)
		w, stop := s.start("a")
		s.settled(w, object)
		require.Zero(t, s.metric("signpost_leases_lost_total"))
		s.kv.Expire(1)
		s.until("it is told", func() bool { return s.metric("signpost_leases_lost_total") == 1 })
		s.until("it serves again", func() bool {
			return s.metric("signpost_clusters_owned") == 1 && s.entries(hub)[object.ID].Status == ledger.Applied
		})
		stop()
		require.InDelta(t, 1, s.metric("signpost_leases_lost_total"), 0)
	})
}

// TestWhoServesNoClusterTellsOfNone: another worker does by now, or nobody.
func TestWhoServesNoClusterTellsOfNone(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	object := config(t, hub, "a", "1")
	s.commit("dig", namespace(t, hub), object)
	w, stop := s.start("a")
	s.settled(w, object)
	require.InDelta(t, 1, s.metric("signpost_clusters_owned"), 0)
	require.InDelta(t, 1, s.metric("signpost_sync_cluster_reachable"), 0)
	stop()
	require.Zero(t, s.metric("signpost_clusters_owned"))
	require.Zero(t, s.metric("signpost_sync_cluster_reachable"))
}
