package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"
	externalplan "sigs.k8s.io/external-dns/plan"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/test/bench/compare"
)

// BenchmarkOneChangeAmongMany changes one address of so many names, each in a
// DNSEndpoint of its own, in groups of 10,000 at most, over a store in memory:
// from what a cluster's worker saw until the DNSEndpoint is written in the app
// context.
// Beside it, external-dns' own plan over 10,000 names, of which one has another
// address: what each of its loops computes, whatever has changed.
func BenchmarkOneChangeAmongMany(b *testing.B) {
	var contenders []compare.Contender
	counts := map[string]float64{}
	for _, names := range []int{1000, 10_000, 100_000} {
		crowd := newCrowd(b, names)
		contenders = append(contenders, compare.Contender{
			Name: fmt.Sprint(names), Before: func(b *testing.B) { crowd.change(b) }, // whoever had the turn before has left the caches as they are
			Turn: stopwatch(func(b *testing.B) { crowd.change(b) }),
		})
		counts[fmt.Sprint(names, "-allocs")] = allocations(func() { crowd.change(b) })
	}
	theirs := newLoop(10_000)
	counts["plan.Calculate-allocs"] = allocations(theirs.change)
	contenders = append(contenders, compare.Contender{Name: "plan.Calculate", Turn: stopwatch(func(*testing.B) { theirs.change() })})
	times := compare.Run(b, time.Microsecond, contenders...)
	for what, count := range counts {
		b.ReportMetric(count, what)
	}
	b.ReportMetric(times[1].Ratio(times[0]), "10000/1000")
	b.ReportMetric(times[2].Ratio(times[0]), "100000/1000")
	b.ReportMetric(times[3].Ratio(times[1]), "plan.Calculate/10000")
}

// TestAChangeCostsTheSameAmongMany: neither the requests to the store nor the
// allocations of a changed address grow with the names of its group.
func TestAChangeCostsTheSameAmongMany(t *testing.T) {
	const few, many = 50, 2000
	small, large := newCrowd(t, few), newCrowd(t, many)
	require.Equal(t, small.requests(t), large.requests(t))
	require.LessOrEqual(t, large.requests(t), int64(mostRequests))
	of := func(c *crowd) float64 { return allocations(func() { c.change(t) }) }
	require.Less(t, of(large), 1.5*of(small))
	require.Less(t, of(large), float64(mostAllocations))
	t.Logf("%d requests, %.0f allocations", large.requests(t), of(large))
}

// What a change of one address may cost, the worker's note of what it saw
// included.
const (
	mostRequests    = 8
	mostAllocations = 1200
)

// mostInAGroup is how many names one group has at most.
const mostInAGroup = 10_000

// crowd is many deployed names, each for a Service of its own.
type crowd struct {
	groups  int
	store   *counted
	service *release.Service
	writer  *observed.Writer // of one of the edges
	last    netip.Addr
}

// newCrowd lays out what accepting the group would have.
func newCrowd(t testing.TB, names int) *crowd {
	t.Helper()
	fake := kvtest.NewFake()
	store := &counted{KV: fake}
	documents := etcd.New(store)
	write(t, documents, shop())
	frozen := groupOf(names, 1)
	home := intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}
	const record = intent.Path("projects/shop/dns-update-records/lab")
	put := func(owner intent.Path, value any) {
		body, err := json.Marshal(value)
		require.NoError(t, err)
		_, err = documents.Put(t.Context(), intent.Write{Path: intent.Join(intent.LifecycleCollection, string(owner)), Body: body})
		require.NoError(t, err)
	}
	put(record, state.RecordLifecycle{Seq: 1, Deployed: true, ContextID: "1", Record: plan.Record{
		Installation: frozen.Installation, Path: record, Project: frozen.Project, Name: "lab", Spec: lab(),
		Version: "v0.22.0", Image: "registry.k8s.io/external-dns/external-dns:v0.22.0", Home: &home, OwnerID: "signpost-lab",
	}})
	for _, binding := range frozen.Bindings {
		for _, cluster := range binding.Sources {
			observe(t, store, address.Service{Cluster: cluster, Namespace: binding.Namespace, Name: binding.Service})
		}
	}
	c := &crowd{store: store, service: releases(documents, outlook{store}), last: netip.MustParseAddr("198.18.0.1")}
	bindings := frozen.Bindings
	for some := range slices.Chunk(bindings, mostInAGroup) {
		id := fmt.Sprint(1 + c.groups)
		frozen.Path, frozen.Bindings = group, some
		if c.groups > 0 {
			frozen.Path += intent.Path(id)
		}
		layRelease(t, store, id, frozen)
		put(frozen.Path, state.Lifecycle{
			Wanted: intent.Instantiate, Seq: 1, ContextID: id, Settled: true,
			Uses: []state.Use{{Record: record, Scope: intent.Public, Cluster: home.String()}},
		})
		for range 2 { // the first commits
			_, err := c.service.StepGroup(t.Context(), frozen.Path)
			require.NoError(t, err)
		}
		c.groups++
	}
	writer, err := observed.New(store).Writer(t.Context(), edges()[0], kv.Compare{Key: "/nobody"})
	require.NoError(t, err)
	c.writer = writer
	require.NoError(t, fake.Compact(t.Context()))
	return c
}

// outlook is a store that is not asked which clusters can be reached: a
// controller keeps that in memory.
type outlook struct{ kv.KV }

func (o outlook) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	if r.Prefix == "/signpost/observed/" && r.KeysOnly {
		return nil, 0, nil
	}
	return o.KV.Range(ctx, r)
}

// layRelease stores a release as it is frozen.
func layRelease(t testing.TB, store kv.KV, contextID string, frozen plan.Group) {
	t.Helper()
	raw, err := new(state.Store).Pack(state.Release{Group: frozen})
	require.NoError(t, err)
	packed := bytes.NewBuffer(raw)
	const chunk = 512 << 10
	for n := 0; packed.Len() > 0; n++ {
		_, _, err := store.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("/signpost/release/%s/%06d", contextID, n), packed.Next(chunk)))
		require.NoError(t, err)
	}
}

// change gives one Service another address, and follows it.
func (c *crowd) change(t testing.TB) {
	c.last = c.last.Next()
	o := address.Observation{Found: true, Candidates: []address.Candidate{{Target: c.last.String(), Field: "status.loadBalancer.ingress[0].ip"}}}
	require.NoError(t, c.writer.SetService(t.Context(), "shop", service(0), o))
	fold, err := c.service.ReconcileService(t.Context(), group, "shop/"+service(0))
	require.NoError(t, err)
	require.Equal(t, render.Selection{Wrote: true}, fold)
}

func (c *crowd) requests(t testing.TB) int64 {
	before := c.store.requests.Load()
	c.change(t)
	return c.store.requests.Load() - before
}

// loop is one of external-dns: what it would find in a zone and in DNSEndpoints.
type loop struct {
	current, desired []*endpoint.Endpoint
	last             netip.Addr
}

func newLoop(names int) *loop {
	l := &loop{last: netip.MustParseAddr("198.18.0.1")}
	for n := range names {
		l.current = append(l.current, owned(n))
		l.desired = append(l.desired, owned(n))
	}
	return l
}

// owned is a name with two addresses, as the registry knows it.
func owned(n int) *endpoint.Endpoint {
	e := endpoint.NewEndpointWithTTL(hostname(n), endpoint.RecordTypeA, 30, "198.18.0.1", "198.18.0.2")
	e.Labels[endpoint.OwnerLabelKey] = "signpost-lab"
	return e
}

// change gives one name another address, and plans.
func (l *loop) change() {
	l.last = l.last.Next()
	l.desired[7].Targets = endpoint.NewTargets(l.last.String(), "198.18.0.2")
	p := externalplan.Plan{
		Current: l.current, Desired: l.desired, OwnerID: "signpost-lab",
		Policies:       []externalplan.Policy{&externalplan.SyncPolicy{}},
		ManagedRecords: []string{endpoint.RecordTypeA, endpoint.RecordTypeAAAA, endpoint.RecordTypeCNAME},
	}
	if changes := p.Calculate().Changes; len(changes.UpdateNew) != 1 || len(changes.Create)+len(changes.Delete) > 0 {
		panic(fmt.Sprintf("external-dns plans %+v", changes))
	}
}

// allocations is how many objects something allocates, of several times the
// mean.
func allocations(do func()) float64 {
	const turns = 20
	do()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range turns {
		do()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / turns
}
