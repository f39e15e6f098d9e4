package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// What leads to a Service, and what kind of names and addresses there are.

func TestAddressesAreFoundWhereTheyAreAndNamesAreWhatIntentsSay(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "sources")
	paris := s.world.Cluster(fixture.Paris)
	s.must(fixture.DefineGateways(t.Context(), paris))
	s.loadBalancers()
	s.must(paris.Apply(t.Context(), s.words.Replace(led)))
	s.must(paris.Ingress(t.Context(), "sources", "shop", "shop", "203.0.113.32"))
	s.must(paris.SetStatus(t.Context(), fixture.GatewayKind(), "sources", "front", gatewayStatus))
	s.must(paris.SetStatus(t.Context(), fixture.RouteKind(), "sources", "api", routeStatus))
	s.must(paris.SetPods(t.Context(), "sources", "peers", true, "2001:db8:1::1", "2001:db8:1::2"))
	s.must(paris.SetNode(t.Context(), "one", nil))
	s.must(paris.SetNodeAddresses(t.Context(), "one",
		corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.0.1"},
		corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: "203.0.113.41"}))
	s.must(paris.LoadBalancer(t.Context(), "sources", "dual", "203.0.113.30", "2001:db8::30"))
	s.must(paris.LoadBalancer(t.Context(), "sources", "six", "2001:db8::36"))
	s.must(paris.LoadBalancer(t.Context(), "sources", "alias", "lb.cloud.example"))
	s.must(paris.LoadBalancer(t.Context(), "sources", "mixed", "203.0.113.31", "10.9.8.7"))

	s.post("/v2/project/{p}/dns-update-records", rfc2136Record(`"releaseTimeout": "30s"`))
	s.records("core")
	s.cloud(edges(), "lab", "core")
	s.app()
	s.group("prod")
	s.intent("wild", `"records": ["lab"], "hostnames": ["*.apps.{corp}", "bücher.{corp}"]`)
	for _, service := range []string{"shop", "api", "ported", "peers", "dual", "alias", "mixed"} {
		s.intentFor(service, service, fmt.Sprintf(`"records": ["lab"], "hostnames": ["%s.{corp}"]`, service))
	}
	s.intentFor("six", "six", `"records": ["core"], "hostnames": ["six.{zone}"]`)
	s.instantiate(prod)

	s.finds("a wildcard", "shop-17.apps.{corp}", "A", parisAddress, berlinAddress)
	s.finds("IDNA", "xn--bcher-kva.{corp}", "A", parisAddress, berlinAddress)
	s.finds("an Ingress", "shop.{corp}", "A", "203.0.113.32")
	s.finds("a Gateway by its HTTPRoute", "api.{corp}", "A", "203.0.113.33")
	s.finds("a NodePort by the external addresses of nodes", "ported.{corp}", "A", "203.0.113.41")
	s.finds("ready endpoints of a headless Service", "peers.{corp}", "AAAA", "2001:db8:1::1", "2001:db8:1::2")
	s.finds("dual stack", "dual.{corp}", "A", "203.0.113.30")
	s.finds("IPv6 in BIND", "dual.{corp}", "AAAA", "2001:db8::30")
	s.finds("IPv6 in CoreDNS", "six.{zone}", "AAAA", "2001:db8::36")
	s.finds("a host name", "alias.{corp}", "CNAME", "lb.cloud.example.")
	s.finds("beside a private address", "mixed.{corp}", "A", "203.0.113.31")
	s.rejects("10.9.8.7", "private address")

	s.terminate(prod)
	s.becomes(prod, "Terminated")
	s.finds("nothing after the end", "shop-17.apps.{corp}", "A")
	s.finds("nothing after the end", "alias.{corp}", "CNAME")
}

// led are Services that offer nothing by themselves, and what leads to them.
const led = `
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: "{p}"}
spec: {selector: {app: shop}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: "{p}"}
spec: {selector: {app: api}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: ported, namespace: "{p}"}
spec: {type: NodePort, selector: {app: ported}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: peers, namespace: "{p}"}
spec: {clusterIP: None, selector: {app: peers}, ports: [{port: 443}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: front, namespace: "{p}"}
spec: {gatewayClassName: any, listeners: [{name: https, port: 443, protocol: HTTPS}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: api, namespace: "{p}"}
spec:
  parentRefs: [{name: front}]
  rules: [{backendRefs: [{name: api, port: 443}]}]
`

// What a Gateway's controller says of the Gateway and of the route.
var (
	gatewayStatus = map[string]any{
		"addresses": []any{map[string]any{"type": "IPAddress", "value": "203.0.113.33"}},
	}
	routeStatus = map[string]any{"parents": []any{map[string]any{
		"parentRef": map[string]any{"name": "front"}, "controllerName": "any.example/controller",
		"conditions": []any{map[string]any{
			"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-01-02T15:04:05Z",
		}},
	}}}
)

// finds waits until a server has exactly these records of a type, given in any
// order.
func (s *story) finds(what, name, kind string, want ...string) {
	s.Helper()
	name = s.words.Replace(name)
	slices.Sort(want)
	s.eventually(what+" to be answered", func() error {
		got, err := dns.Query(s.Context(), s.server(name), name, kind)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%s of %s is %v, want %v", kind, name, got, want)
		}
		return err
	})
}
