package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// newCrowd is a world with so many names of one provider, which are published.
func newCrowd(t *testing.T, many int) (*world, []intent.Path) {
	w := newNames(t)
	quota := 10_000
	w.options.Quotas = intent.Quotas{Names: &quota, Objects: &quota, ExternalDNS: &quota}
	w.restartOn(w.fake)
	names := make([]intent.Path, many)
	for n := range names {
		names[n] = intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n))
		require.NoError(t, w.publish(names[n], ofFront))
		if n == 0 {
			w.settle(names[n]) // the namespaces of the Service are the project's then
		}
	}
	w.settle(names...)
	return w, names
}

// resyncing runs a controller over a store for some time, in a bubble's time.
func (w *world) resyncing(t *testing.T, during func()) {
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- release.NewController(w.service).Run(ctx) }()
	time.Sleep(time.Minute) // the first look at all is over then
	during()
	end()
	require.NoError(t, <-ended)
}

// sumOf is the sum of a metric.
func sumOf(t *testing.T, metrics *prometheus.Registry, name string) (sum float64) {
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name {
				sum += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// TestNamesThatAreLookedAtInOneTurnReadTogether: an idle half hour, in which each name is stepped once, costs the
// same requests to the store with three names in a turn as with one.
func TestNamesThatAreLookedAtInOneTurnReadTogether(t *testing.T) {
	t.Parallel()
	const turns = 180
	costs := map[int]storeCost{}
	for _, many := range []int{100, 370} {
		w, _ := newCrowd(t, many)
		synctest.Test(t, func(t *testing.T) {
			store := &costing{KV: w.fake}
			metrics := w.watched(store, etcd.New(w.fake).WatchAll)
			w.resyncing(t, func() {
				before := sumOf(t, metrics, "signpost_step_duration_seconds")
				costs[many] = store.of(t, "half an hour", func() error { time.Sleep(30 * time.Minute); return nil })
				require.InDelta(t, max(turns, many), sumOf(t, metrics, "signpost_step_duration_seconds")-before, turns, "each owner has its turn")
			})
		})
	}
	t.Logf("%+v", costs)
	require.Zero(t, costs[370].Writes)
	require.InEpsilon(t, costs[100].Reads, costs[370].Reads, 0.02, "%+v", costs)
}

// TestNamesReadTogetherAfterAStart, when everybody is looked at. A name alone reads three times. The step of
// their provider wakes them meanwhile, so that some read for themselves.
func TestNamesReadTogetherAfterAStart(t *testing.T) {
	t.Parallel()
	costs := map[int]storeCost{}
	for _, many := range []int{100, 370} {
		w, _ := newCrowd(t, many)
		synctest.Test(t, func(t *testing.T) {
			store := &costing{KV: w.fake}
			w.watched(store, etcd.New(w.fake).WatchAll)
			costs[many] = store.of(t, "a start", func() error { w.resyncing(t, func() {}); return nil })
		})
	}
	t.Logf("%+v", costs)
	require.Equal(t, costs[100].Writes, costs[370].Writes)
	require.Less(t, costs[370].Reads-costs[100].Reads, 270)
}

// slowUsers is a store that takes a while to say who uses a provider.
type slowUsers struct{ kv.KV }

// Range implements kv.KV.
func (s slowUsers) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	if strings.HasPrefix(r.Prefix, "/signpost/ref/projects/shop/dns-update-records/") {
		time.Sleep(time.Second)
	}
	return s.KV.Range(ctx, r)
}

// TestAStartStepsEachNameOnce, although the step of their provider, which has to find them first, wakes all of them.
func TestAStartStepsEachNameOnce(t *testing.T) {
	t.Parallel()
	const many = 200
	w, _ := newCrowd(t, many)
	synctest.Test(t, func(t *testing.T) {
		metrics := w.watched(slowUsers{w.fake}, etcd.New(w.fake).WatchAll)
		w.resyncing(t, func() {
			require.LessOrEqual(t, sumOf(t, metrics, "signpost_step_duration_seconds"), many*1.1)
		})
	})
}

// TestNamesOfAClusterThatDoesNotAnswerRest: they are stepped as it ceases to answer, and not again and again until
// it does.
func TestNamesOfAClusterThatDoesNotAnswerRest(t *testing.T) {
	t.Parallel()
	const many = 100
	w, _ := newCrowd(t, many)
	synctest.Test(t, func(t *testing.T) {
		metrics := w.watched(w.fake, etcd.New(w.fake).WatchAll)
		w.resyncing(t, func() {
			before := sumOf(t, metrics, "signpost_step_duration_seconds")
			w.lost(berlin, 0)
			time.Sleep(4 * time.Minute)
			steps := sumOf(t, metrics, "signpost_step_duration_seconds") - before
			require.GreaterOrEqual(t, steps, float64(many), "all hear of it")
			require.LessOrEqual(t, steps, float64(4*many))
		})
	})
}

// deaf is a store that tells of no change.
type deaf struct{ kv.KV }

// Watch implements kv.KV.
func (d deaf) Watch(ctx context.Context, _ string, _ int64) <-chan kv.Batch {
	none := make(chan kv.Batch)
	context.AfterFunc(ctx, func() { close(none) })
	return none
}

// TestNamesThatReadTogetherAreFound, each of them, when nobody has told of a change: the
// addresses of their Service are others, which each name's step writes and its neighbours have read before.
func TestNamesThatReadTogetherAreFound(t *testing.T) {
	t.Parallel()
	w, names := newCrowd(t, 370)
	synctest.Test(t, func(t *testing.T) {
		metrics := w.watched(deaf{w.fake}, func(ctx context.Context, _ int64) <-chan intent.Changed { return w.fakeWatch(ctx) })
		w.resyncing(t, func() {
			w.observe(berlin, "shop/front", "203.0.113.99")
			time.Sleep(31 * time.Minute)
		})
		for _, name := range names {
			require.Contains(t, w.published(name)[0], "203.0.113.99")
		}
		require.InDelta(t, len(names), sumOf(t, metrics, "signpost_resync_found_total"), 0)
	})
}
