package cluster_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// stand has objects be there as they say, their status, too.
func stand(t *testing.T, server *kube.Server, manifest string) {
	t.Helper()
	objects, err := kube.Parse(manifest)
	require.NoError(t, err)
	for _, object := range objects {
		plural := map[string]string{
			"Service": "services", "EndpointSlice": "endpointslices", "Ingress": "ingresses", "Node": "nodes",
			"HTTPRoute": "httproutes", "Gateway": "gateways",
			"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings",
		}[object.GetKind()]
		require.NotEmpty(t, plural, object.GetKind())
		api := server.Dynamic.Resource(object.GroupVersionKind().GroupVersion().WithResource(plural)).Namespace(object.GetNamespace())
		options := metav1.ApplyOptions{FieldManager: "cloud", Force: true}
		_, err := api.Apply(t.Context(), object.GetName(), object, options)
		require.NoError(t, err)
		if object.Object["status"] != nil {
			_, err = api.ApplyStatus(t.Context(), object.GetName(), object, options)
			require.NoError(t, err)
		}
	}
}

const shop = `
apiVersion: v1
kind: Service
metadata: {namespace: shop, name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: shop, name: web}
spec: {rules: [{host: www.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
status: {loadBalancer: {ingress: [{ip: 203.0.113.20}, {hostname: ingress.example}]}}
---
apiVersion: v1
kind: Node
metadata: {name: a}
status: {addresses: [{type: InternalIP, address: 10.0.0.1}, {type: ExternalIP, address: 203.0.113.40}]}
---
`

// pod is an EndpointSlice of one endpoint.
func pod(service, ip string, ready bool) string {
	return fmt.Sprintf(`
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: shop, name: %[1]s-1, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
endpoints: [{addresses: [%[2]s], conditions: {ready: %[3]t}, nodeName: a}]
ports: []
---
`, service, ip, ready)
}

const gateways = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: infra, name: edge}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}]}
status: {addresses: [{type: IPAddress, value: 203.0.113.30}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: shop, name: web}
spec: {parentRefs: [{namespace: infra, name: edge}], rules: [{backendRefs: [{name: web, port: 80}]}]}
status: {parents: [{parentRef: {namespace: infra, name: edge}, controllerName: example/any, conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-02T15:04:05Z"}]}]}
`

// observer watches the Services of the namespace shop.
type observer struct {
	*testing.T
	cluster.Watches
	woken atomic.Int64
}

func observe(t *testing.T, target cluster.Target) *observer {
	t.Helper()
	o := &observer{T: t}
	notify := cluster.Quiet()
	notify.Addresses = func(string, string) { o.woken.Add(1) }
	o.Watches = target.Watch(t.Context(), notify)
	t.Cleanup(o.Stop)
	o.Follow(cluster.Interest{Namespaces: []string{"shop"}})
	return o
}

// until waits for what is seen of a Service.
func (o *observer) until(why, service string, holds func(address.Observation) bool) address.Observation {
	o.Helper()
	var last address.Observation
	require.Eventually(o, func() bool {
		seen, known := o.Service("shop", service)
		last = seen
		return known && holds(seen)
	}, patience, tick, why)
	return last
}

func TestWhatLeadsToAServiceIsSeen(t *testing.T) {
	server := start(t)
	target, err := kubeapi.NewKubernetes(server.Config(), cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	for _, namespace := range []string{"shop", "infra"} {
		require.NoError(t, server.Namespace(t.Context(), namespace))
	}
	o := observe(t, target)
	stand(t, server, shop+pod("web", "10.1.0.1", false))
	seen := o.until("a cluster without a Gateway API", "web", func(s address.Observation) bool { return len(s.Candidates) == 5 && s.Readiness != nil })
	assert.Equal(t, map[address.Kind]string{address.Gateway: "the cluster does not serve HTTPRoutes"}, seen.Unseen)
	assert.Equal(t, address.Readiness{Total: 1}, *seen.Readiness)
	assert.Equal(t, []address.Port{{Name: "http", Protocol: "TCP", Number: 80}}, seen.Ports)
	own := seen.ClusterIPs[0]
	assert.Equal(t, []address.Candidate{
		{Kind: address.Ingress, Object: "Ingress shop/web", Target: "203.0.113.20", Field: "status.loadBalancer.ingress[0].ip"},
		{Kind: address.Ingress, Object: "Ingress shop/web", Target: "ingress.example", Field: "status.loadBalancer.ingress[1].hostname"},
		{Kind: address.Node, Object: "Node a", Target: "203.0.113.40", Field: "status.addresses[1].address"},
		{Kind: address.NodeInternal, Object: "Node a", Target: "10.0.0.1", Field: "status.addresses[0].address"},
		{Kind: address.ClusterIP, Target: own, Field: "spec.clusterIPs[0]"},
	}, seen.Candidates)
	require.NoError(t, o.Trouble())

	stand(t, server, pod("web", "10.1.0.1", true))
	o.until("an endpoint gets ready", "web", func(s address.Observation) bool { return s.Readiness.Ready == 1 })
	o.unmoved(server)
	o.moves(server)

	require.NoError(t, fixture.DefineGateways(t.Context(), server))
	stand(t, server, gateways)
	later := observe(t, target)
	seen = later.until("a Gateway in another namespace", "web", func(s address.Observation) bool { return len(s.Unseen) == 0 && len(s.Candidates) > 0 })
	assert.Contains(t, seen.Candidates, address.Candidate{Kind: address.Gateway, Object: "Gateway infra/edge", Target: "203.0.113.30", Field: "status.addresses[0].value"})
	once, err := target.Offer(t.Context(), "shop", "web")
	require.NoError(t, err)
	assert.Equal(t, seen, once, "a plan looks once, and sees the same")
}

// unmoved has nodes and pods do what they always do, which changes nothing that
// is kept, and wakes nobody.
func (o *observer) unmoved(server *kube.Server) {
	o.Helper()
	before := o.woken.Load()
	for range 5 {
		beat(o.T, server, "a")
	}
	stand(o.T, server, `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: shop, name: web-1, labels: {kubernetes.io/service-name: web}, annotations: {endpoints.kubernetes.io/last-change-trigger-time: "2026-01-02T15:04:05Z"}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}, nodeName: a}]
ports: []
`)
	stand(o.T, server, pod("peers", "10.1.0.2", true)) // which is seen after all of it, on one of the watches
	require.Eventually(o, func() bool { return o.woken.Load() > before }, patience, tick)
	require.Equal(o, before+1, o.woken.Load())
}

// moves has addresses change.
func (o *observer) moves(server *kube.Server) {
	o.Helper()
	node, err := server.Client.CoreV1().Nodes().Get(o.Context(), "a", metav1.GetOptions{})
	require.NoError(o, err)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeExternalIP, Address: "203.0.113.41"}}
	_, err = server.Client.CoreV1().Nodes().UpdateStatus(o.Context(), node, metav1.UpdateOptions{})
	require.NoError(o, err)
	require.NoError(o, server.Client.NetworkingV1().Ingresses("shop").Delete(o.Context(), "web", metav1.DeleteOptions{}))
	o.until("a node gets another address, and an Ingress goes", "web", func(s address.Observation) bool {
		return len(s.Candidates) == 2 && s.Candidates[0].Target == "203.0.113.41"
	})
	stand(o.T, server, `
apiVersion: v1
kind: Service
metadata: {namespace: shop, name: peers}
spec: {clusterIP: None, selector: {app: peers}, ports: [{port: 80}]}
`)
	seen := o.until("a headless Service", "peers", func(s address.Observation) bool { return len(s.Candidates) > 0 })
	assert.Equal(o, []address.Candidate{{Kind: address.Endpoint, Object: "EndpointSlice shop/peers-1", Target: "10.1.0.2", Field: "endpoints[0].addresses[0]"}}, seen.Candidates)
}

// Whoever may see Services and nothing else knows nothing of the rest, and
// publishes what Services offer.
func TestWhatMayNotBeSeenIsUnseenAndNoTrouble(t *testing.T) {
	server := start(t)
	require.NoError(t, server.Namespace(t.Context(), "shop"))
	require.NoError(t, fixture.DefineGateways(t.Context(), server))
	stand(t, server, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: half}
rules: [{apiGroups: [""], resources: [services], verbs: [list, watch]}, {apiGroups: [gateway.networking.k8s.io], resources: ["*"], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: half}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: half}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: half}]
---
`+shop)
	config := server.Config()
	config.Impersonate.UserName = "half"
	target, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	o := observe(t, target)
	seen := o.until("the Service", "web", func(s address.Observation) bool { return s.Found && len(s.Unseen) == 5 })
	assert.Equal(t, map[address.Kind]string{
		address.Endpoint: "EndpointSlices may not be listed and watched", address.Ingress: "Ingresses may not be listed and watched",
		address.Gateway: "HTTPRoutes may not be listed and watched",
		address.Node:    "Nodes may not be listed and watched", address.NodeInternal: "Nodes may not be listed and watched",
	}, seen.Unseen)
	assert.Nil(t, seen.Readiness)
	assert.Len(t, seen.Candidates, 1, "its cluster IP")
	require.NoError(t, o.Trouble())
}
