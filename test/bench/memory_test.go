//go:build !race

// The race detector takes several times the memory.

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// BenchmarkWatchedServices is what 10,000 Services of one namespace, as people
// have them, take in memory: in the watch of a sync worker, which keeps what they
// offer, and in an informer of client-go's, which keeps them and their EndpointSlices whole.
// "connection" is what the first Service of a cluster takes beyond that, with the
// API server's end.
func BenchmarkWatchedServices(b *testing.B) {
	const count = 10_000
	server, clusters := servingServices(b, count), make([]*apiserver.Server, 100)
	for n := range clusters {
		clusters[n] = servingServices(b, 1)
	}
	for b.Loop() {
		ours, whole := watched(b, count, server), informed(b, server, count)
		b.ReportMetric(ours/count, "watched-B/service")
		b.ReportMetric(whole/count, "informer-B/service")
		b.ReportMetric(whole/ours, "informer/watched")
		b.ReportMetric(watched(b, 1, clusters...)/float64(len(clusters)*1024), "connection-KiB/cluster")
	}
	b.ReportMetric(0, "ns/op")
}

// TestAWatchedServiceTakesLittle: of what people write into Services, nothing is
// kept but what they offer.
func TestAWatchedServiceTakesLittle(t *testing.T) {
	const count, budget = 2_000, 3_000 // bytes each, with its EndpointSlice; whole they take 6,000
	each := watched(t, count, servingServices(t, count)) / count
	t.Logf("%.0f bytes each", each)
	require.Less(t, each, float64(budget))
}

// watched is what sync workers' watches of the Services of clusters take, in
// bytes, with both ends of the connections to them.
func watched(t testing.TB, each int, servers ...*apiserver.Server) float64 {
	t.Helper()
	return taken(func() func() {
		var ends []func()
		for _, server := range servers {
			target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: "0123456789abcdef"})
			require.NoError(t, err)
			watches := target.Watch(t.Context(), cluster.Quiet())
			watches.Follow(cluster.Interest{Namespaces: []string{"shop"}})
			wait.For(t, time.Minute, "the Services to be known", func() error {
				if seen, known := watches.Service("shop", service(each-1)); !known || seen.Readiness == nil {
					return fmt.Errorf("known: %t", known)
				}
				return nil
			})
			ends = append(ends, watches.Stop, target.Close)
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}
	})
}

// servingServices is an API server with Services of about 3 KB each, and an
// EndpointSlice of each with three endpoints.
func servingServices(t testing.TB, count int) *apiserver.Server {
	t.Helper()
	s := apiserver.Start(t, "a", 0)
	for n := range count {
		s.Put("/api/v1/namespaces/shop/services/"+service(n), apiserver.Object{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{
				"name": service(n), "namespace": "shop",
				"labels": map[string]any{"app.kubernetes.io/name": service(n), "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "web-1.2.3"},
				"annotations": map[string]any{
					"meta.helm.sh/release-name": service(n), "kubectl.kubernetes.io/last-applied-configuration": strings.Repeat(fmt.Sprint(n, " "), 200),
				},
				"managedFields": []any{map[string]any{"manager": "helm", "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z",
					"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:text": strings.Repeat(fmt.Sprint(n, " "), 100)}}}},
			},
			"spec": map[string]any{"type": "LoadBalancer", "clusterIP": "10.96.0.1", "clusterIPs": []any{"10.96.0.1"}, "selector": map[string]any{"app": service(n)},
				"ports": []any{map[string]any{"name": "https", "port": 443, "targetPort": 8443, "nodePort": 30443}}},
			"status": map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": fmt.Sprintf("198.18.%d.%d", n/256%256, n%256)}}}},
		})
		s.Put("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"+service(n), apiserver.Object{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": map[string]any{
				"name": service(n), "namespace": "shop", "labels": map[string]any{"kubernetes.io/service-name": service(n), "endpointslice.kubernetes.io/managed-by": "x"},
			},
			"endpoints": slices.Repeat([]any{map[string]any{
				"addresses": []any{"10.0.0.1"}, "nodeName": "node-1", "conditions": map[string]any{"ready": true, "serving": true, "terminating": false},
				"targetRef": map[string]any{"kind": "Pod", "namespace": "shop", "name": service(n) + "-7d4b9c-x2x4z", "uid": "0b1c2d3e"},
			}}, 3),
			"ports": []any{map[string]any{"name": "https", "port": 8443, "protocol": "TCP"}},
		})
	}
	return s
}

// informed is what an informer takes for them.
func informed(t testing.TB, server *apiserver.Server, count int) float64 {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	return taken(func() func() {
		ctx, stop := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(client, 0)
		store, endpoints := factory.Core().V1().Services().Informer().GetStore(), factory.Discovery().V1().EndpointSlices().Informer().GetStore()
		factory.Start(ctx.Done())
		wait.For(t, time.Minute, "the Services to be known", func() error {
			if n := min(len(store.ListKeys()), len(endpoints.ListKeys())); n < count {
				return fmt.Errorf("%d of %d", n, count)
			}
			return nil
		})
		return func() {
			stop()
			factory.Shutdown()
		}
	})
}

// taken is how much more of the heap is in use after something has begun than
// before, until it is ended.
func taken(begin func() (end func())) float64 {
	before := inUse()
	end := begin()
	after := inUse()
	end()
	return float64(after) - float64(before)
}

// BenchmarkManyWatchedClusters is what a sync worker keeps for 1,000 clusters
// with 100 Services each, beside their watches: clusters are fakes, and etcd is a
// process of its own.
func BenchmarkManyWatchedClusters(b *testing.B) {
	const clusters, each = 1_000, 100
	for b.Loop() {
		kept, goroutines := serving(b, clusters, each)
		b.ReportMetric(kept/(1<<20), "worker-MiB")
		b.ReportMetric(kept/clusters/1024, "worker-KiB/cluster")
		b.ReportMetric(kept/clusters/each, "worker-B/service")
		b.ReportMetric(float64(goroutines)/clusters, "goroutines/cluster")
	}
	b.ReportMetric(0, "ns/op")
}

// TestAServedClusterTakesLittle: with 100 Services that are observed.
func TestAServedClusterTakesLittle(t *testing.T) {
	const clusters, each, budget = 50, 100, 200 << 10 // bytes for each cluster
	kept, goroutines := serving(t, clusters, each)
	t.Logf("%.0f KiB and %d goroutines for each of %d clusters", kept/clusters/1024, goroutines/clusters, clusters)
	require.Less(t, kept/clusters, float64(budget))
}

// many are clusters that are fakes.
type many map[string]*clustertest.Fake

// Connect implements syncer.Connections.
func (m many) Connect(_ context.Context, name string) (cluster.Target, error) {
	return m[name].Target(cluster.Options{Installation: "0123456789abcdef"}), nil
}

// Changed implements syncer.Connections.
func (m many) Changed() <-chan string { return nil }

// serving has a worker serve clusters with so many Services each, and answers
// the bytes that it keeps, and its goroutines.
func serving(t testing.TB, clusters, each int) (kept float64, goroutines int) {
	t.Helper()
	store := unflushedEtcd(t)
	contexts, fakes := appcontext.NewStore(store, time.Now), many{}
	for n := range clusters {
		name, named := "edge+"+site(n), []string{}
		fakes[name] = clustertest.NewFake(name)
		for k := range each {
			named = append(named, "shop/"+service(k))
			fakes[name].SetService("shop", service(k), *observation())
		}
		_, err := contexts.Commit(t.Context(), appcontext.Pointer{Owner: appcontext.Owner(name)},
			appcontext.Context{ID: appcontext.NewID(), Services: map[string][]string{name: named}})
		require.NoError(t, err)
	}
	worker := syncer.New(syncer.Options{KV: store, Contexts: contexts, Connections: fakes, Installation: "0123456789abcdef", Logger: slog.New(slog.DiscardHandler)})
	before := runtime.NumGoroutine()
	kept = taken(func() func() {
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- worker.Run(ctx) }()
		seen := observed.New(store)
		for name := range fakes {
			wait.For(t, 5*time.Minute, name+" to be observed", func() error {
				last, err := seen.Service(t.Context(), address.Service{Cluster: name, Namespace: "shop", Name: service(each - 1)})
				if err == nil && (last == nil || !worker.Idle()) {
					err = fmt.Errorf("it is %v", last)
				}
				return err
			})
		}
		goroutines = runtime.NumGoroutine() - before
		return func() { stop(); require.NoError(t, <-ended) }
	})
	runtime.KeepAlive(fakes)
	return kept, goroutines
}
