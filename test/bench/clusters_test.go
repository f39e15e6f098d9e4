package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/bench/compare"
)

// Sizes of fleets, whose clusters are 20 ms away there and back.
const (
	fleetEdges   = 99 // beside the hub
	fleetHanging = 5
	largeFleet   = 1000                  // edges, of which half hang
	fleetAway    = 10 * time.Millisecond // each way
)

// BenchmarkManyClusters changes, in 100 clusters at once, the address of a load
// balancer in each edge, and waits until the DNSEndpoint of each is written in the
// hub. Each way takes 10 ms, so that the least is 20 ms. In "hanging" five edges
// have ceased to answer, in "quiet" none has, and in "limited", as in "hanging",
// writes are slowed down as client-go does by itself. A turn is over with the last
// of the 94 edges that answer in all of them; "each" is one of them. In "half", 500
// of 1,000 edges hang.
func BenchmarkManyClusters(b *testing.B) {
	b.Run("hanging", func(b *testing.B) { compareHanging(b, fleetEdges, fleetHanging) })
	b.Run("half", func(b *testing.B) { compareHanging(b, largeFleet, largeFleet/2) })
	b.Run("limits", func(b *testing.B) {
		ours, limited := newFleet(b, fleetEdges, fleetHanging, false), newFleet(b, fleetEdges, fleetHanging, true)
		ours.hang()
		limited.hang()
		times := compareFleets(b, []string{"hanging", "limited"}, ours, limited)
		b.ReportMetric(times[1].Ratio(times[0]), "limited/hanging")
		b.ReportMetric(limited.each.Ratio(ours.each), "limited/hanging-each")
	})
}

func compareHanging(b *testing.B, edges, hanging int) {
	quiet, ours := newFleet(b, edges, hanging, false), newFleet(b, edges, hanging, false)
	ours.hang()
	times := compareFleets(b, []string{"quiet", "hanging"}, quiet, ours)
	b.ReportMetric(times[1].Ratio(times[0]), "hanging/quiet")
	b.ReportMetric(ours.each.P99Ratio(quiet.each), "hanging/quiet-each-p99")
	for n, f := range []*fleet{quiet, ours} {
		b.ReportMetric(float64(f.requests)/float64(len(f.each)), []string{"quiet", "hanging"}[n]+"-requests/edge")
	}
}

func compareFleets(b *testing.B, names []string, fleets ...*fleet) []compare.Samples {
	b.Helper()
	contenders := make([]compare.Contender, len(fleets))
	for n, f := range fleets {
		contenders[n] = compare.Contender{Name: names[n], Turn: func(b *testing.B) time.Duration { return f.move(b) }}
	}
	times := compare.Run(b, time.Millisecond, contenders...)
	for n, f := range fleets {
		f.each.Report(b, names[n]+"-each", time.Millisecond)
	}
	return times
}

// TestClustersThatHangHoldUpNoOther: nor do limits of ours. An address of each of
// 94 edges costs one request, and they are there in less time than client-go's
// own limits would have them wait, which is 16 s.
func TestClustersThatHangHoldUpNoOther(t *testing.T) {
	f := newFleet(t, fleetEdges, fleetHanging, false)
	f.hang()
	const unlimited = 8 * time.Second // here it takes 0.2 to 1
	for range 3 {
		before := f.hub.Applies()
		require.Less(t, f.move(t), unlimited)
		require.Equal(t, fleetEdges-fleetHanging, f.hub.Applies()-before)
	}
}

// fleet is a hub, edges with a name each, and what publishes them: all of
// Signpost that has to do with it, in this process.
type fleet struct {
	hub     *apiserver.Server
	edges   []*apiserver.Server
	still   int // so many of the first ones have no part in the changes
	limited bool
	store   *counted
	address netip.Addr      // the last that was given
	each    compare.Samples // how long the edges took

	requests int64 // to the store and the hub, while edges changed

	mu      sync.Mutex
	arrived map[string]chan time.Time // by address that is waited for
}

// newFleet starts a fleet, and waits until all names are there.
func newFleet(t testing.TB, edges, still int, limited bool) *fleet {
	t.Helper()
	store := &counted{KV: unflushedEtcd(t)}
	f := &fleet{limited: limited, store: store, address: netip.MustParseAddr("198.18.0.0"), arrived: map[string]chan time.Time{}}
	f.hub = apiserver.Start(t, "hub", fleetAway)
	f.hub.Applied = f.note
	for n := range edges {
		f.edges = append(f.edges, apiserver.Start(t, site(n), fleetAway))
	}
	documents := etcd.New(store)
	write(t, documents, f.documents())
	service := releases(documents, store)
	f.runs(t, release.NewController(service).Run)
	f.runs(t, syncer.New(syncer.Options{
		KV: store, Contexts: appcontext.NewStore(store, time.Now), Connections: f, Installation: "0123456789abcdef", Logger: slog.New(slog.DiscardHandler),
	}).Run)
	_, err := service.Instantiate(t.Context(), group, "", "bench")
	require.NoError(t, err)
	f.move(t)
	f.still, f.each, f.requests = still, nil, 0
	return f
}

// hang has the edges that have no part in the changes answer no more.
func (f *fleet) hang() {
	for _, edge := range f.edges[:f.still] {
		edge.Hang()
	}
}

// documents are a group with an app and a name for each edge.
func (f *fleet) documents() map[intent.Path]any {
	resources := shop()
	const cloud = intent.Path("projects/shop/logical-clouds/eu")
	spec := intent.DeploymentIntentGroup{LogicalCloud: "eu"}
	for n := range f.edges {
		edge := intent.ClusterRef{ClusterProvider: "edge", Cluster: site(n)}
		resources[intent.Join("cluster-providers/edge/clusters", site(n))] = intent.Cluster{KubeconfigRef: "sealed"}
		resources[cloud.Child("cluster-references", site(n))] = edge
		spec.Apps = append(spec.Apps, intent.App{Name: service(n), Clusters: []intent.ClusterRef{edge}})
		resources[group.Child("traffic-group-intents", "front").Child("dns-intents", service(n))] = intent.DNSIntent{
			App: service(n), ServiceName: "web", Hostnames: []string{hostname(n)}, TTL: 30,
		}
	}
	resources[group] = spec
	return resources
}

// runs runs a part until the test ends.
func (f *fleet) runs(t testing.TB, part func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
}

// Connect implements syncer.Connections.
func (f *fleet) Connect(_ context.Context, name string) (cluster.Target, error) {
	server := f.hub
	for n := range f.edges {
		if name == "edge+"+site(n) {
			server = f.edges[n]
		}
	}
	config := server.Config()
	if f.limited {
		config.Wrap(limit)
	}
	return kubeapi.NewKubernetes(config, cluster.Options{Installation: "0123456789abcdef"})
}

// Changed implements syncer.Connections.
func (f *fleet) Changed() <-chan string { return nil }

// limit slows writes down as client-go does where nothing else is said.
func limit(next http.RoundTripper) http.RoundTripper {
	return limited{next, flowcontrol.NewTokenBucketRateLimiter(rest.DefaultQPS, rest.DefaultBurst)}
}

type limited struct {
	next    http.RoundTripper
	limiter flowcontrol.RateLimiter
}

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		if err := l.limiter.Wait(request.Context()); err != nil {
			return nil, err
		}
	}
	return l.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go see what it has made.
func (l limited) WrappedRoundTripper() http.RoundTripper { return l.next }

// note tells who waits for it that a DNSEndpoint has an address.
func (f *fleet) note(o apiserver.Object) {
	spec, _ := o["spec"].(map[string]any)
	endpoints, _ := spec["endpoints"].([]any)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range endpoints {
		endpoint, _ := e.(map[string]any)
		targets, _ := endpoint["targets"].([]any)
		for _, target := range targets {
			if waiting := f.arrived[fmt.Sprint(target)]; waiting != nil {
				waiting <- time.Now()
				delete(f.arrived, fmt.Sprint(target))
			}
		}
	}
}

// move gives each edge that takes part another address, and answers how long
// it took until the hub had them all.
func (f *fleet) move(t testing.TB) time.Duration {
	t.Helper()
	const patience = 2 * time.Minute
	before := f.store.requests.Load() + int64(f.hub.Applies())
	began, waits := time.Now(), []chan time.Time{}
	for _, edge := range f.edges[f.still:] {
		f.address = f.address.Next()
		arrived := make(chan time.Time, 1)
		f.mu.Lock()
		f.arrived[f.address.String()] = arrived
		f.mu.Unlock()
		waits = append(waits, arrived)
		edge.SetService("shop", "web", f.address.String())
	}
	end := time.After(patience)
	var last time.Duration
	for _, arrived := range waits {
		select {
		case at := <-arrived:
			last = max(last, at.Sub(began))
			f.each = append(f.each, at.Sub(began))
		case <-end:
			require.FailNow(t, "not all names were there in time")
		}
	}
	f.requests += f.store.requests.Load() + int64(f.hub.Applies()) - before
	return last
}
