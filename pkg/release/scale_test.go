package release_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// costing is a store that counts what is asked of it.
type costing struct {
	kv.KV
	mu   sync.Mutex
	cost storeCost
}

// storeCost is what was asked of a store.
type storeCost struct {
	Reads, Writes int // requests
	Items         int // that were answered
}

func (c *costing) count(add storeCost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cost = storeCost{c.cost.Reads + add.Reads, c.cost.Writes + add.Writes, c.cost.Items + add.Items}
}

// Get implements kv.KV.
func (c *costing) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	c.count(storeCost{Reads: 1, Items: 1})
	return c.KV.Get(ctx, key)
}

// Range implements kv.KV.
func (c *costing) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	items, revision, err := c.KV.Range(ctx, r)
	c.count(storeCost{Reads: 1, Items: len(items)})
	return items, revision, err
}

// Txn implements kv.KV.
func (c *costing) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	c.count(storeCost{Writes: 1})
	return c.KV.Txn(ctx, when, then...)
}

// of is what it costs to do something.
func (c *costing) of(t testing.TB, what string, do func() error) storeCost {
	t.Helper()
	c.mu.Lock()
	before := c.cost
	c.mu.Unlock()
	require.NoError(t, do(), what)
	c.mu.Lock()
	defer c.mu.Unlock()
	return storeCost{c.cost.Reads - before.Reads, c.cost.Writes - before.Writes, c.cost.Items - before.Items}
}

// newCrowdedShop is the main story beside so many other groups, which are deployed.
func newCrowdedShop(t *testing.T, others int) *world {
	w := newShop(t)
	for n := range others {
		group := intent.Path(fmt.Sprintf("projects/shop/composite-apps/store/v1/deployment-intent-groups/g%03d", n))
		w.group(group, fmt.Sprintf("app%d", n), fmt.Sprintf("n%d.lab.example", n))
		w.observe(berlin, fmt.Sprintf("shop/app%d", n), "203.0.113.10")
		w.do(intent.Instantiate, group)
		if n == 0 {
			w.settle(group) // the namespaces are the project's then
		}
	}
	w.settle()
	return w
}

// TestTheCostOfAGroupDoesNotGrowWithTheGroupsOfItsProvider: to plan, accept, look at,
// change and terminate one group costs the same requests to the store, and the same items
// that these answer, beside 30 groups and beside 75: at both, pages are full.
func TestTheCostOfAGroupDoesNotGrowWithTheGroupsOfItsProvider(t *testing.T) {
	t.Parallel()
	costs := map[int]map[string]storeCost{}
	for _, others := range []int{30, 75} {
		w := newCrowdedShop(t, others)
		store := &costing{KV: w.fake}
		recorder := &kv.Recorder{KV: store}
		w.restartOn(recorder)
		costs[others] = map[string]storeCost{}
		measure := func(what string, do func() error) { costs[others][what] = store.of(t, what, do) }
		step := func() error { return w.step(prod) }
		measure("first plan", func() error { _, err := w.service.Plan(ann(prod), prod, intent.Instantiate, 0); return err })
		measure("accept", func() error { _, err := w.service.Instantiate(ann(prod), prod, "", "ann"); return err })
		measure("first step", step)
		w.settle(prod)
		measure("step at rest", step)
		require.NoError(t, w.service.KeepHealth(t.Context())) // as a controller does
		measure("plan", func() error { _, err := w.service.Plan(ann(prod), prod, intent.Update, 0); return err })
		require.LessOrEqual(t, costs[others]["plan"].Reads, 10)
		recorded, reads := recorder.Record(t.Context())
		measure("status", func() error { _, err := w.service.FullSnapshot(recorded, prod); return err })
		require.LessOrEqual(t, costs[others]["status"].Reads, 4)
		measure("status that has not changed", func() error { same, err := reads.Unchanged(t.Context()); require.True(t, same); return err })
		require.Equal(t, storeCost{Writes: 1}, costs[others]["status that has not changed"], "a transaction of compares alone")
		w.observe(paris, "shop/web", "198.51.100.7")
		same, err := reads.Unchanged(t.Context())
		require.NoError(t, err)
		require.False(t, same)
		measure("change of an address", func() error { _, err := w.service.ReconcileService(t.Context(), prod, "shop/web"); return err })
		measure("status of the provider", func() error { _, err := w.service.RecordSnapshot(t.Context(), lab); return err })
		measure("users of the provider", func() error { _, err := w.service.Users(t.Context(), lab, 10, ""); return err })
		require.LessOrEqual(t, costs[others]["users of the provider"].Reads, 3, "the provider, a page of its referrers, and their lifecycles")
		measure("terminate", func() error { _, err := w.try(intent.Terminate, prod, ""); return err })
		measure("last step", step)
	}
	require.Equal(t, costs[30], costs[75])
}

// watched is a world whose controller hears of documents through watch, with metrics.
func (w *world) watched(store kv.KV, watch func(context.Context, int64) <-chan intent.Changed) *prometheus.Registry {
	w.restartOn(store)
	metrics := prometheus.NewRegistry()
	w.options.Watch, w.options.Metrics = watch, metrics
	w.service = release.New(w.options)
	return metrics
}

// TestAnIdleMinuteCostsTheSameBesideManyGroups: a controller that is told of changes
// writes nothing, and reads as much beside 75 groups as beside 30. Its round over all
// owners takes one in ten seconds of both.
func TestAnIdleMinuteCostsTheSameBesideManyGroups(t *testing.T) {
	t.Parallel()
	costs := map[int]storeCost{}
	for _, others := range []int{30, 75} {
		w := newCrowdedShop(t, others)
		synctest.Test(t, func(t *testing.T) {
			store := &costing{KV: w.fake}
			w.watched(store, etcd.New(w.fake).WatchAll)
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- release.NewController(w.service).Run(ctx) }()
			time.Sleep(time.Minute) // the bubble's: the first look at all is over then
			costs[others] = store.of(t, "ten minutes", func() error { time.Sleep(10 * time.Minute); return nil })
			end()
			require.NoError(t, <-ended)
		})
	}
	require.Zero(t, costs[30].Writes)
	require.Zero(t, costs[75].Writes)
	require.InEpsilon(t, costs[30].Reads, costs[75].Reads, 0.1, "%+v", costs)
}

// TestAChangedDocumentWakesItsOwner, though nobody looks at it for half an hour: a
// suspension, and a lifecycle that another replica has written.
func TestAChangedDocumentWakesItsOwner(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.watched(w.fake, etcd.New(w.fake).WatchAll)
	w.control(t)
	until(t, "it has looked", func() bool { return w.snapshot(prod).Committed })
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}],"suspend":true}`, eu)
	pointer := func() bool {
		p, err := w.contexts.Current(t.Context(), state.GroupOwner(prod))
		return err == nil && p.Suspended
	}
	until(t, "it is suspended", pointer)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	until(t, "it is resumed", func() bool { return !pointer() })

	other := release.New(w.options) // nobody listens to its wakeups
	_, err := other.Terminate(ann(prod), prod, false, "", "ann")
	require.NoError(t, err)
	until(t, "it is taken away", func() bool { return len(w.snapshot(prod).Objects) == 0 })
}

// TestTheRoundFindsWhatNobodyTold: a lost event delays a change by half an hour at most,
// and is counted.
func TestTheRoundFindsWhatNobodyTold(t *testing.T) {
	t.Parallel()
	w := running(t)
	deaf := func(ctx context.Context, _ int64) <-chan intent.Changed { return w.fakeWatch(ctx) }
	synctest.Test(t, func(t *testing.T) {
		metrics := w.watched(w.fake, deaf)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- release.NewController(w.service).Run(ctx) }()
		time.Sleep(time.Second)
		w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}],"suspend":true}`, eu)
		time.Sleep(30 * time.Minute)
		p, err := w.contexts.Current(t.Context(), state.GroupOwner(prod))
		require.NoError(t, err)
		require.True(t, p.Suspended)
		families, err := metrics.Gather()
		require.NoError(t, err)
		found := -1.0
		for _, family := range families {
			if family.GetName() == "signpost_resync_found_total" {
				found = family.GetMetric()[0].GetCounter().GetValue()
			}
		}
		require.InDelta(t, 1, found, 0)
		end()
		require.NoError(t, <-ended)
	})
}

// fakeWatch tells nothing until ctx ends.
func (w *world) fakeWatch(ctx context.Context) <-chan intent.Changed {
	none := make(chan intent.Changed)
	context.AfterFunc(ctx, func() { close(none) })
	return none
}

// TestALookThatFailsIsMadeUpFor: a store that does not answer when a controller begins
// leaves nothing to the round, which would take long.
func TestALookThatFailsIsMadeUpFor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(test, "api", "api.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.12")
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test) // its turn in the round is after that of prod
	synctest.Test(t, func(t *testing.T) {
		w.watched(w.fake, func(ctx context.Context, _ int64) <-chan intent.Changed { return w.fakeWatch(ctx) })
		w.fake.Before = func(op, key string) error {
			if op == "range" && strings.HasPrefix(key, "/signpost/doc/lifecycle/") {
				return &intent.Error{Code: intent.Unavailable, Detail: "it is away"}
			}
			return nil
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- release.NewController(w.service).Run(ctx) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.fake.Before = nil
		time.Sleep(10 * time.Second)
		require.NotEmpty(t, w.snapshot(test).Objects)
		end()
		require.NoError(t, <-ended)
	})
}

// TestAWatchThatEndsLosesNothing: another one begins with a look at all owners.
func TestAWatchThatEndsLosesNothing(t *testing.T) {
	t.Parallel()
	w := running(t)
	synctest.Test(t, func(t *testing.T) {
		var watches []context.CancelFunc
		w.watched(w.fake, func(ctx context.Context, _ int64) <-chan intent.Changed {
			ctx, end := context.WithCancel(ctx)
			watches = append(watches, end)
			return w.fakeWatch(ctx)
		})
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- release.NewController(w.service).Run(ctx) }()
		time.Sleep(time.Second)
		w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}],"suspend":true}`, eu)
		watches[0]()
		time.Sleep(5 * time.Second) // before the first turn of the round
		p, err := w.contexts.Current(t.Context(), state.GroupOwner(prod))
		require.NoError(t, err)
		require.True(t, p.Suspended)
		end()
		require.NoError(t, <-ended)
	})
}
