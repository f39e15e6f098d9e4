package bench

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// The namespaces of the two contenders: that of the Service in the edge, and
// that of the DNSEndpoint in the hub.
const (
	appNamespace      = "shop"
	endpointNamespace = "signpost-shop"
	floorNamespace    = "floor"
)

// BenchmarkAddressToEndpoint changes the address of a load balancer in one
// cluster and waits until the DNSEndpoint in another has it, from the request
// that changes the one to the watch event that tells of the other. The floor
// is the least that any controller needs for it: a watch on the one side, and
// for each event a patch on the other; it checks, remembers and explains
// nothing. Clusters are real API servers, Signpost is a process of its own.
func BenchmarkAddressToEndpoint(b *testing.B) {
	world, err := fixture.Start(b.Context(), fixture.Hub, fixture.Paris)
	b.Cleanup(world.Close)
	require.NoError(b, err)
	hub, edge := world.Cluster(fixture.Hub), world.Cluster(fixture.Paris)
	published := publish(b, world)
	floor := startFloor(b, hub, edge)
	address := netip.MustParseAddr("198.18.0.1") // of the network for benchmarks
	next := func() string {
		address = address.Next()
		return address.String()
	}
	times := compare.Run(b, time.Millisecond,
		compare.Contender{Name: "alone", Before: pause, Turn: func(b *testing.B) time.Duration { return published.follow(b, next()) }},
		compare.Contender{Name: "floor", Turn: func(b *testing.B) time.Duration { return floor.follow(b, next()) }})
	b.ReportMetric(times[0].Ratio(times[1]), "alone/floor")
}

// pause waits until the changes of before are no burst any more that the next one would be
// joined to.
func pause(b *testing.B) {
	b.Helper()
	const over = 500 * time.Millisecond
	select {
	case <-time.After(over):
	case <-b.Context().Done():
	}
}

// pair is a load balancer and the DNSEndpoint that follows it.
type pair struct {
	edge      kubernetes.Interface
	namespace string          // of the Service web
	events    watch.Interface // of the DNSEndpoint's namespace
}

// newPair makes the Service and watches the namespace of the DNSEndpoint.
func newPair(b testing.TB, hub, edge *kube.Server, service, endpoint string) pair {
	b.Helper()
	require.NoError(b, edge.LoadBalancer(b.Context(), service, "web", "198.18.0.1"))
	require.NoError(b, hub.Namespace(b.Context(), endpoint))
	events, err := dynamicClient(b, hub).Namespace(endpoint).Watch(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
	b.Cleanup(events.Stop)
	return pair{edge: typedClient(b, edge), namespace: service, events: events}
}

// follow changes the address and tells how long the DNSEndpoint took to have
// it.
func (p pair) follow(b *testing.B, address string) time.Duration {
	b.Helper()
	patch := fmt.Appendf(nil, `{"status": {"loadBalancer": {"ingress": [{"ip": %q}]}}}`, address)
	began := time.Now()
	_, err := p.edge.CoreV1().Services(p.namespace).Patch(b.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	require.NoError(b, err)
	p.await(b, address)
	return time.Since(began)
}

// await waits for an event that the DNSEndpoint has the address.
func (p pair) await(b testing.TB, address string) {
	b.Helper()
	const patience = time.Minute
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	for {
		select {
		case event, open := <-p.events.ResultChan():
			require.True(b, open, "the watch on the hub ended")
			if object, ok := event.Object.(*unstructured.Unstructured); ok && target(object) == address {
				return
			}
		case <-tooLong.C:
			b.Fatalf("no DNSEndpoint got %s within %s", address, patience)
		}
	}
}

// target is the first target of a DNSEndpoint.
func target(object *unstructured.Unstructured) string {
	endpoints, _, _ := unstructured.NestedSlice(object.Object, "spec", "endpoints")
	if len(endpoints) == 0 {
		return ""
	}
	first, _ := endpoints[0].(map[string]any)
	targets, _, _ := unstructured.NestedStringSlice(first, "targets")
	if len(targets) == 0 {
		return ""
	}
	return targets[0]
}

// publish starts a Signpost that publishes a name for the Service, and waits
// until the DNSEndpoint is there.
func publish(b *testing.B, world *fixture.Fixture) pair {
	b.Helper()
	hub, edge := world.Cluster(fixture.Hub), world.Cluster(fixture.Paris)
	require.NoError(b, fixture.DefineEndpoints(b.Context(), hub))
	published := newPair(b, hub, edge, appNamespace, endpointNamespace)
	program, err := fixture.Build(b.Context(), b.TempDir())
	require.NoError(b, err)
	server, err := fixture.NewSignpost(program, filepath.Join(world.Dir, "signpost"))
	require.NoError(b, err)
	b.Cleanup(server.Kill)
	require.NoError(b, server.Start(b.Context()))
	post := func(path, body string) {
		answer, err := server.Do(b.Context(), http.MethodPost, "/v2/"+path, body)
		require.NoError(b, err)
		require.Less(b, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
	}
	post("cluster-providers", `{"metadata": {"name": "edge"}, "spec": {}}`)
	for _, cluster := range []*kube.Server{hub, edge} {
		kubeconfig, err := cluster.Kubeconfig(kube.Signpost)
		require.NoError(b, err)
		post("cluster-providers/edge/clusters", fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"kubeconfig": %q}}`,
			cluster.Name, base64.StdEncoding.EncodeToString(kubeconfig)))
	}
	for _, request := range published.requests(world.Etcd.URL) {
		post(request.path, request.body)
	}
	published.await(b, "198.18.0.1")
	return published
}

type request struct{ path, body string }

// requests are what makes Signpost publish www.lab.example.
func (p pair) requests(etcd string) []request {
	const app = "projects/shop/composite-apps/store/v1"
	return []request{
		{"projects", `{"metadata": {"name": "shop"}, "spec": {"namespace": "` + endpointNamespace + `"}}`},
		{"projects/shop/dns-update-records", `{"metadata": {"name": "lab"}, "spec": {"provider": "coredns",
			"external-dns-parameters": {"domain-filter": ["lab.example"], "interval": "1m"}, "environment": {"ETCD_URLS": "` + etcd + `"}}}`},
		{"projects/shop/logical-clouds", `{"metadata": {"name": "eu"},
			"spec": {"namespace": "` + p.namespace + `", "controllerCluster": {"clusterProvider": "edge", "cluster": "hub"}}}`},
		{"projects/shop/logical-clouds/eu/cluster-references", `{"metadata": {"name": "paris"}, "spec": {"clusterProvider": "edge", "cluster": "paris"}}`},
		{"projects/shop/logical-clouds/eu/kv-pairs", `{"metadata": {"name": "dns-update-record-list"}, "spec": {"kv": [{"key1": "lab"}]}}`},
		{"projects/shop/composite-apps", `{"metadata": {"name": "store"}, "spec": {"compositeAppVersion": "v1"}}`},
		{app + "/deployment-intent-groups", `{"metadata": {"name": "prod"}, "spec": {"logicalCloud": "eu", "apps": [{"name": "web"}]}}`},
		{app + "/deployment-intent-groups/prod/traffic-group-intents", `{"metadata": {"name": "front"}, "spec": {}}`},
		{app + "/deployment-intent-groups/prod/traffic-group-intents/front/dns-intents",
			`{"metadata": {"name": "www"}, "spec": {"app": "web", "serviceName": "web", "hostnames": ["www.lab.example"]}}`},
		{app + "/deployment-intent-groups/prod/instantiate", ""},
	}
}

// startFloor copies the address of a Service of its own to a DNSEndpoint of
// its own, until the benchmark ends.
func startFloor(b *testing.B, hub, edge *kube.Server) pair {
	b.Helper()
	floor := newPair(b, hub, edge, floorNamespace, floorNamespace)
	services, err := typedClient(b, edge).CoreV1().Services(floorNamespace).Watch(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
	b.Cleanup(services.Stop)
	endpoints := dynamicClient(b, hub).Namespace(floorNamespace)
	_, err = endpoints.Create(b.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": "web", "namespace": floorNamespace}, "spec": map[string]any{},
	}}, metav1.CreateOptions{})
	require.NoError(b, err)
	go copyAddresses(b.Context(), services, endpoints)
	floor.await(b, "198.18.0.1")
	return floor
}

// copyAddresses patches the DNSEndpoint web on each event. A patch that fails
// is one that the benchmark waits for in vain.
func copyAddresses(ctx context.Context, services watch.Interface, endpoints dynamic.ResourceInterface) {
	for event := range services.ResultChan() {
		service, ok := event.Object.(*corev1.Service)
		if !ok || len(service.Status.LoadBalancer.Ingress) == 0 {
			continue
		}
		patch := fmt.Appendf(nil, `{"spec": {"endpoints": [{"dnsName": "www.floor.example", "recordType": "A", "targets": [%q]}]}}`,
			service.Status.LoadBalancer.Ingress[0].IP)
		_, _ = endpoints.Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{})
	}
}

// lasting is the configuration of an admin's client whose watches last.
func lasting(server *kube.Server) *rest.Config {
	config := server.Config()
	config.Timeout = 0
	return config
}

func typedClient(b testing.TB, server *kube.Server) kubernetes.Interface {
	b.Helper()
	client, err := kubernetes.NewForConfig(lasting(server))
	require.NoError(b, err)
	return client
}

// dynamicClient is for DNSEndpoints.
func dynamicClient(b testing.TB, server *kube.Server) dynamic.NamespaceableResourceInterface {
	b.Helper()
	client, err := dynamic.NewForConfig(lasting(server))
	require.NoError(b, err)
	return client.Resource(schema.GroupVersionResource{Group: "externaldns.k8s.io", Version: "v1alpha1", Resource: "dnsendpoints"})
}
