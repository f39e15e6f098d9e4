package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// lists is an API server that has lists, by plural, unless it has a status for
// one. Its watches tell its events; status has those of which it lets nobody watch as
// "watch " and the plural.
type lists struct {
	items  map[string][]string
	status map[string]int32
	events map[string]chan string // by plural, of its watches
}

func (l lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	w.Header().Set("Content-Type", "application/json")
	items, served := l.items[plural]
	if code, fails := l.status["watch "+plural]; fails && r.URL.Query().Get("watch") != "" {
		l.status = map[string]int32{plural: code}
	}
	switch code, fails := l.status[plural]; {
	case fails:
		w.WriteHeader(int(code))
		_ = json.NewEncoder(w).Encode(failure(code, metav1.StatusReasonUnknown, "no "+plural, plural))
	case !served:
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(failure(http.StatusNotFound, metav1.StatusReasonNotFound, "not found", plural))
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		for {
			select {
			case event := <-l.events[plural]:
				_, _ = fmt.Fprintln(w, event)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	default:
		_, _ = fmt.Fprintf(w, `{%s, "metadata": {"resourceVersion": "7"}, "items": [%s]}`, listTypes()[plural], strings.Join(items, ","))
	}
}

func (l lists) connect(t *testing.T) *kubeapi.Kubernetes {
	t.Helper()
	return connectTo(t, l)
}

func connectTo(t *testing.T, api http.Handler) *kubeapi.Kubernetes {
	t.Helper()
	at := httptest.NewServer(api)
	t.Cleanup(at.Close)
	k, err := kubeapi.NewKubernetes(&rest.Config{Host: at.URL}, cluster.Options{Installation: installation})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

func listTypes() map[string]string {
	return map[string]string{
		"services":       `"apiVersion": "v1", "kind": "ServiceList"`,
		"nodes":          `"apiVersion": "v1", "kind": "NodeList"`,
		"endpointslices": `"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSliceList"`,
		"ingresses":      `"apiVersion": "networking.k8s.io/v1", "kind": "IngressList"`,
		"httproutes":     `"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRouteList"`,
		"gateways":       `"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayList"`,
	}
}

// aShop has a Service to which everything leads that can.
func aShop() lists {
	return lists{status: map[string]int32{}, items: map[string][]string{
		"services": {
			`{"metadata": {"namespace": "shop", "name": "web"}, "spec": {"type": "NodePort", "clusterIPs": ["10.0.0.1"], "selector": {"app": "web"}}}`,
			`{"metadata": {"namespace": "shop", "name": "api"}, "spec": {"clusterIPs": ["10.0.0.2"]}}`,
		},
		"endpointslices": {`{"metadata": {"namespace": "shop", "name": "web-1", "labels": {"kubernetes.io/service-name": "web"}}, "addressType": "IPv4",
			"endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": false}}]}`},
		"ingresses": {`{"metadata": {"namespace": "shop", "name": "web"}, "spec": {"defaultBackend": {"service": {"name": "web"}}},
			"status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.20"}]}}}`},
		"httproutes": {`{"metadata": {"namespace": "shop", "name": "web"}, "spec": {"rules": [{"backendRefs": [{"name": "web"}]}]},
			"status": {"parents": [{"parentRef": {"namespace": "infra", "name": "edge"}, "conditions": [{"type": "Accepted", "status": "True"}]},
				{"parentRef": {"namespace": "infra", "name": "gone"}, "conditions": [{"type": "Accepted", "status": "True"}]}]}}`},
		"gateways": {`{"metadata": {"namespace": "infra", "name": "edge"}, "status": {"addresses": [{"value": "203.0.113.30"}]}}`,
			`{"metadata": {"namespace": "infra", "name": "other"}, "status": {"addresses": [{"value": "203.0.113.31"}]}}`},
		"nodes": {`{"metadata": {"name": "a"}, "status": {"addresses": [{"type": "ExternalIP", "address": "203.0.113.40"}]}}`},
	}}
}

func TestWhatLeadsToAServiceIsSeen(t *testing.T) {
	t.Parallel()
	k := aShop().connect(t)
	want := address.Observation{
		Found: true, ClusterIPs: []string{"10.0.0.1"}, Readiness: &address.Readiness{Total: 1},
		Candidates: []address.Candidate{
			{Kind: address.Ingress, Object: "Ingress shop/web", Target: "203.0.113.20", Field: "status.loadBalancer.ingress[0].ip"},
			{Kind: address.Gateway, Object: "Gateway infra/edge", Target: "203.0.113.30", Field: "status.addresses[0].value"},
			{Kind: address.Node, Object: "Node a", Target: "203.0.113.40", Field: "status.addresses[0].address"},
			{Kind: address.ClusterIP, Target: "10.0.0.1", Field: "spec.clusterIPs[0]"},
		},
	}
	once, err := k.Offer(t.Context(), "shop", "web")
	require.NoError(t, err)
	assert.Equal(t, want, once, "by a look")
	w := watching(t, k)
	var seen address.Observation
	require.Eventually(t, func() bool {
		o, known := w.Service("shop", "web")
		seen = o
		return known
	}, time.Minute, time.Millisecond)
	assert.Equal(t, want, seen, "by watching")
	other, known := w.Service("shop", "api")
	assert.True(t, known)
	assert.Equal(t, []string{"10.0.0.2"}, other.ClusterIPs)
	assert.Len(t, other.Candidates, 1, "nothing else leads there")
	absent, known := w.Service("shop", "none")
	assert.True(t, known)
	assert.False(t, absent.Found)
	nodes, known := w.Nodes()
	assert.False(t, known, "nobody follows nodes for themselves: %v", nodes)
	require.NoError(t, w.Trouble())
}

// TestAChangeTellsTheServicesThatItIsAbout and no other: a namespace may have very many.
func TestAChangeTellsTheServicesThatItIsAbout(t *testing.T) {
	t.Parallel()
	shop := aShop()
	shop.events = map[string]chan string{"services": make(chan string), "endpointslices": make(chan string), "ingresses": make(chan string), "gateways": make(chan string)}
	told := make(chan string, 100)
	notify := cluster.Quiet()
	notify.Addresses = func(namespace, service string) { told <- namespace + "/" + service }
	w := shop.connect(t).Watch(t.Context(), notify)
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Namespaces: []string{"shop"}})
	require.Eventually(t, func() bool { _, known := w.Service("shop", "web"); return known }, time.Minute, time.Millisecond)
	for len(told) > 0 {
		require.Contains(t, []string{"shop/", "/"}, <-told, "a list is about all")
	}
	for _, c := range []struct {
		plural, event string
		want          []string
	}{
		{"services", `{"type": "MODIFIED", "object": {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "api", "resourceVersion": "8"},
			"spec": {"clusterIPs": ["10.0.0.3"]}}}`, []string{"shop/api"}},
		{"endpointslices", `{"type": "DELETED", "object": {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"namespace": "shop", "name": "web-1",
			"resourceVersion": "8", "labels": {"kubernetes.io/service-name": "web"}}}}`, []string{"shop/web"}},
		{"ingresses", `{"type": "MODIFIED", "object": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"namespace": "shop", "name": "web",
			"resourceVersion": "8"}, "spec": {"defaultBackend": {"service": {"name": "api"}}}}}`, []string{"shop/api", "shop/web"}},
		{"gateways", `{"type": "DELETED", "object": {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"namespace": "infra", "name": "edge",
			"resourceVersion": "8"}}}`, []string{"/"}},
	} {
		shop.events[c.plural] <- strings.Join(strings.Fields(c.event), " ")
		var got []string
		for range c.want {
			select {
			case service := <-told:
				got = append(got, service)
			case <-time.After(time.Minute):
				require.Fail(t, "not told", c.plural)
			}
		}
		assert.Equal(t, c.want, got, c.plural)
	}
	assert.Empty(t, told)
}

// TestALookAtAServiceReadsNoOther: a namespace may have very many.
func TestALookAtAServiceReadsNoOther(t *testing.T) {
	t.Parallel()
	shop := aShop()
	var mu sync.Mutex
	asked := map[string]string{}
	k := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		mu.Lock()
		asked[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]] = query.Get("fieldSelector") + query.Get("labelSelector")
		mu.Unlock()
		shop.ServeHTTP(w, r)
	}))
	_, err := k.Offer(t.Context(), "shop", "web")
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, "metadata.name=web", asked["services"])
	assert.Equal(t, "kubernetes.io/service-name=web", asked["endpointslices"])
}

func watching(t *testing.T, k *kubeapi.Kubernetes) cluster.Watches {
	t.Helper()
	w := k.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Namespaces: []string{"shop"}})
	return w
}

// What leads to a Service and cannot be looked at is unknown, and keeps nobody
// from seeing the rest.
func TestKindsThatCannotBeLookedAtAreUnseen(t *testing.T) {
	for reason, test := range map[string]struct {
		plural string
		code   int32
		want   map[address.Kind]string
	}{
		"EndpointSlices are not allowed": {"endpointslices", 403, map[address.Kind]string{address.Endpoint: "EndpointSlices may not be listed and watched"}},
		"Ingresses are not allowed":      {"ingresses", 403, map[address.Kind]string{address.Ingress: "Ingresses may not be listed and watched"}},
		"there is no Gateway API":        {"httproutes", 404, map[address.Kind]string{address.Gateway: "the cluster does not serve HTTPRoutes"}},
		"Gateways are not allowed":       {"gateways", 403, map[address.Kind]string{address.Gateway: "Gateways may not be listed and watched"}},
		"Gateways cannot be converted":   {"gateways", 500, map[address.Kind]string{address.Gateway: "Gateways cannot be listed and watched: no gateways"}},
		"nodes are not allowed": {"nodes", 403, map[address.Kind]string{
			address.Node: "Nodes may not be listed and watched", address.NodeInternal: "Nodes may not be listed and watched"}},
	} {
		t.Run(reason, func(t *testing.T) {
			shop := aShop()
			shop.status[test.plural] = test.code
			k := shop.connect(t)
			once, err := k.Offer(t.Context(), "shop", "web")
			require.NoError(t, err)
			assert.Equal(t, test.want, once.Unseen)
			w := watching(t, k)
			require.Eventually(t, func() bool {
				o, known := w.Service("shop", "web")
				return known && assert.ObjectsAreEqual(once, o)
			}, time.Minute, time.Millisecond)
			require.NoError(t, w.Trouble())
		})
	}
}

func TestAServiceThatCannotBeLookedAtIsUnknown(t *testing.T) {
	t.Parallel()
	shop := aShop()
	shop.status["services"] = 403
	k := shop.connect(t)
	_, err := k.Offer(t.Context(), "shop", "web")
	assert.Equal(t, fault.Refused, fault.Of(err))
	w := watching(t, k)
	require.Eventually(t, func() bool { return fault.Of(w.Trouble()) == fault.Refused }, time.Minute, time.Millisecond)
	_, known := w.Service("shop", "web")
	assert.False(t, known)
}

// Who may list and not watch would see now and then, and know nothing between.
func TestWhatMayOnlyBeListedIsUnseen(t *testing.T) {
	t.Parallel()
	shop := aShop()
	shop.status["watch ingresses"] = 403
	w := watching(t, shop.connect(t))
	require.Eventually(t, func() bool {
		o, known := w.Service("shop", "web")
		return known && o.Unseen[address.Ingress] == "Ingresses may not be listed and watched"
	}, time.Minute, time.Millisecond)
}
