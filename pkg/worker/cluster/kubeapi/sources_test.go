package kubeapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/source"
)

// parsed reads an object as an API server would answer it.
func parsed[O any](t testing.TB, text string) *O {
	t.Helper()
	var object O
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &object))
	return &object
}

// manifests are a Service and what leads to it.
type manifests struct {
	service                            string
	slices, ingresses, gateways, nodes []string
}

// seen is what the watches would make of them.
func (m manifests) seen(t *testing.T) address.Observation {
	s := sources{service: source.ServiceOf(parsed[corev1.Service](t, m.service))}
	for _, text := range m.slices {
		s.slices = append(s.slices, source.SliceOf(parsed[discoveryv1.EndpointSlice](t, text)))
	}
	for _, text := range m.ingresses {
		s.offers = append(s.offers, ingresses().Read(object(loose(t, text))).Offers...)
	}
	for _, text := range m.gateways {
		s.offers = append(s.offers, routes().Via.Read(object(loose(t, text))).Offers...)
	}
	for _, text := range m.nodes {
		s.nodes = append(s.nodes, leadingNode(parsed[corev1.Node](t, text)))
	}
	return s.observation()
}

func ingresses() *source.Kind { return kindNamed("Ingress") }

func routes() *source.Kind { return kindNamed("HTTPRoute") }

func kindNamed(name string) *source.Kind {
	return source.Kinds()[slices.IndexFunc(source.Kinds(), func(k *source.Kind) bool { return k.Name == name })]
}

func object(o *unstructured.Unstructured) source.Object {
	return source.Object{Namespace: o.GetNamespace(), Name: o.GetName(), Content: o.Object}
}

func loose(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

func lb(target, field string) address.Candidate {
	return address.Candidate{Kind: address.LoadBalancer, Target: target, Field: "status.loadBalancer.ingress" + field}
}

// candidates of kinds, in short.
func of(kind address.Kind, object string, targetsAndFields ...string) []address.Candidate {
	var out []address.Candidate
	for n := 0; n < len(targetsAndFields); n += 2 {
		out = append(out, address.Candidate{Kind: kind, Object: object, Target: targetsAndFields[n], Field: targetsAndFields[n+1]})
	}
	return out
}

func TestAServiceOffersItsLoadBalancerAndExternalIPs(t *testing.T) {
	for reason, test := range map[string]struct {
		service string
		want    []address.Candidate
	}{
		"a Service without either offers nothing, which is not absence": {`{}`, nil},
		"the load balancer's address":                                   {`{status: {loadBalancer: {ingress: [{ip: 203.0.113.10}]}}}`, []address.Candidate{lb("203.0.113.10", "[0].ip")}},
		"the load balancer's host name":                                 {`{status: {loadBalancer: {ingress: [{hostname: lb.example}]}}}`, []address.Candidate{lb("lb.example", "[0].hostname")}},
		"both families, by their index": {`{status: {loadBalancer: {ingress: [{ip: 203.0.113.10}, {ip: "2001:db8::1"}]}}}`,
			[]address.Candidate{lb("203.0.113.10", "[0].ip"), lb("2001:db8::1", "[1].ip")}},
		"external IPs come after, empty ones not at all": {
			`{spec: {externalIPs: ["", 198.51.100.7]}, status: {loadBalancer: {ingress: [{ip: 203.0.113.10, hostname: lb.example}]}}}`,
			append([]address.Candidate{lb("203.0.113.10", "[0].ip"), lb("lb.example", "[0].hostname")}, of(address.External, "", "198.51.100.7", "spec.externalIPs[1]")...)},
		"spec.loadBalancerIP is a wish": {`{spec: {loadBalancerIP: 203.0.113.99}}`, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			assert.Equal(t, address.Observation{Found: true, Candidates: test.want}, manifests{service: test.service}.seen(t))
		})
	}
}

func TestAServiceTellsItsClusterIPsAndNamedPorts(t *testing.T) {
	t.Parallel()
	o := manifests{service: `{spec: {type: ClusterIP, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"],
		ports: [{name: http, protocol: TCP, port: 80}, {protocol: UDP, port: 53}, {name: sip, protocol: UDP, port: 5060}]}}`}.seen(t)
	assert.Equal(t, address.Observation{
		Found: true, ClusterIPs: []string{"10.0.0.1", "fd00::1"},
		Candidates: of(address.ClusterIP, "", "10.0.0.1", "spec.clusterIPs[0]", "fd00::1", "spec.clusterIPs[1]"),
		Ports:      []address.Port{{Name: "http", Protocol: "TCP", Number: 80}, {Name: "sip", Protocol: "UDP", Number: 5060}},
	}, o)
}

func TestIngressesLeadToServices(t *testing.T) {
	t.Parallel()
	const web = `{metadata: {namespace: shop, name: web},
		spec: {defaultBackend: {service: {name: home}}, rules: [{host: a.example}, {http: {paths: [
			{path: /, pathType: Prefix, backend: {service: {name: web}}}, {path: /b, pathType: Prefix, backend: {resource: {kind: Bucket, name: b}}}]}}]},
		status: {loadBalancer: {ingress: [{ip: 203.0.113.20}, {hostname: ingress.example}]}}}`
	assert.Equal(t, []string{"shop/home", "shop/web"}, ingresses().Read(object(loose(t, web))).Services)
	o := manifests{service: `{status: {loadBalancer: {ingress: [{ip: 203.0.113.10}]}}}`, ingresses: []string{web}}.seen(t)
	assert.Equal(t, append([]address.Candidate{lb("203.0.113.10", "[0].ip")}, of(address.Ingress, "Ingress shop/web",
		"203.0.113.20", "status.loadBalancer.ingress[0].ip", "ingress.example", "status.loadBalancer.ingress[1].hostname")...), o.Candidates)
}

func TestRoutesThatAGatewayHasAcceptedLeadToServices(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct{ route, services, gateways string }{
		"backends are Services, parents are Gateways": {
			`{spec: {rules: [{backendRefs: [{name: web, port: 80}, {name: api, namespace: shop, kind: Service, group: ""}]}, {}]},
				status: {parents: [{parentRef: {name: edge, namespace: infra}, conditions: [{type: Accepted, status: "True"}]}]}}`, "shop/web shop/api", "infra/edge"},
		"a Gateway in the namespace of the route": {
			`{status: {parents: [{parentRef: {name: edge, group: gateway.networking.k8s.io, kind: Gateway}, conditions: [{type: ResolvedRefs, status: "False"}, {type: Accepted, status: "True"}]}]}}`, "", "shop/edge"},
		"two listeners of one Gateway": {
			`{status: {parents: [{parentRef: {name: edge, sectionName: a}, conditions: [{type: Accepted, status: "True"}]}, {parentRef: {name: edge, sectionName: b}, conditions: [{type: Accepted, status: "True"}]}]}}`, "", "shop/edge"},
		"a Gateway that has not accepted it": {
			`{status: {parents: [{parentRef: {name: edge}, conditions: [{type: Accepted, status: "False"}]}, {parentRef: {name: new}}]}}`, "", ""},
		"other kinds of backends and parents": {
			`{spec: {rules: [{backendRefs: [{name: b, kind: Bucket}, {name: s, group: net.example}]}]},
				status: {parents: [{parentRef: {name: web, kind: Service, group: ""}, conditions: [{type: Accepted, status: "True"}]}]}}`, "", ""},
		"what has other types leads nowhere": {`{spec: {rules: 7}, status: {parents: {a: 1}}}`, "", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			content := loose(t, test.route)
			content.SetNamespace("shop")
			kept := routes().Read(object(content))
			assert.Equal(t, words(test.services), kept.Services)
			assert.Equal(t, words(test.gateways), kept.Via)
		})
	}
}

func TestAGatewayOffersItsAddresses(t *testing.T) {
	t.Parallel()
	const edge = `{metadata: {namespace: infra, name: edge}, spec: {addresses: [{value: 192.0.2.1}]}, status: {addresses: [
		{value: 203.0.113.30}, {type: Hostname, value: gw.example}, {type: net.example/Pool, value: blue}, {type: IPAddress, value: ""}, {type: IPAddress, value: "2001:db8::30"}]}}`
	o := manifests{service: `{}`, gateways: []string{edge, `{status: {addresses: 7}}`}}.seen(t)
	assert.Equal(t, of(address.Gateway, "Gateway infra/edge",
		"203.0.113.30", "status.addresses[0].value", "gw.example", "status.addresses[1].value", "2001:db8::30", "status.addresses[4].value"), o.Candidates)
}

// What strangers write into objects of the Gateway API is read without harm.
func FuzzGateways(f *testing.F) {
	f.Add([]byte(`{"metadata":{"namespace":"shop"},"spec":{"rules":[{"backendRefs":[{"name":"web"}]}]},"status":{"parents":[{"parentRef":{"name":"a"},"conditions":[{"type":"Accepted","status":"True"}]}]}}`))
	f.Add([]byte(`{"metadata":7,"status":{"addresses":[{"type":null,"value":"203.0.113.1"},7]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		content := &unstructured.Unstructured{}
		if yaml.Unmarshal(raw, &content.Object) != nil {
			return // no object
		}
		lead := routes().Read(object(content))
		for _, to := range append(lead.Services, lead.Via...) {
			require.Contains(t, to, "/")
		}
		for _, c := range routes().Via.Read(object(content)).Offers {
			require.NotEmpty(t, c.Target)
		}
	})
}

const exposed = `{spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}`

// kubelet is a Node with an external and an internal address.
func kubelet(name, number, more string) string {
	return `{metadata: {name: ` + name + `}, status: {addresses: [{type: Hostname, address: ` + name + `}, {type: ExternalIP, address: 203.0.113.` + number + `}, {type: InternalIP, address: 10.0.0.` + number + `}]}` + more + `}`
}

func labelled(name, number, label string) string {
	return `{metadata: {name: ` + name + `, labels: {` + label + `: ""}}, status: {addresses: [{type: ExternalIP, address: 203.0.113.` + number + `}]}}`
}

func unready(name, number string) string {
	return `{metadata: {name: ` + name + `}, status: {conditions: [{type: Ready, status: Unknown}], addresses: [{type: ExternalIP, address: 203.0.113.` + number + `}]}}`
}

func TestNodesLeadToNodePorts(t *testing.T) {
	const local = `{spec: {type: NodePort, externalTrafficPolicy: Local}}`
	const onB = `{metadata: {namespace: shop, name: web-1}, addressType: IPv4, endpoints: [{addresses: [10.1.0.1], nodeName: b, conditions: {ready: true}}, {addresses: [10.1.0.2], nodeName: a, conditions: {ready: false}}]}`
	const noneOnB = `{metadata: {namespace: shop, name: web-1}, addressType: IPv4, endpoints: [{addresses: [10.1.0.1], nodeName: b, conditions: {ready: false}}]}`
	a, b := kubelet("a", "1", ""), kubelet("b", "2", "")
	for reason, test := range map[string]struct {
		service       string
		nodes, slices []string
		want          string
	}{
		"external addresses, then internal ones":      {exposed, []string{a, b}, nil, "203.0.113.1 203.0.113.2 10.0.0.1 10.0.0.2"},
		"a load balancer's node ports are its own":    {`{spec: {type: LoadBalancer, ports: [{port: 80, nodePort: 30080}]}}`, []string{a, b}, nil, ""},
		"a node that is not ready is left out":        {exposed, []string{a, unready("c", "3")}, nil, "203.0.113.1 10.0.0.1"},
		"unless none is":                              {exposed, []string{unready("c", "3")}, nil, "203.0.113.3"},
		"a node that balancers leave out is left out": {exposed, []string{a, labelled("c", "3", "node.kubernetes.io/exclude-from-external-load-balancers")}, nil, "203.0.113.1 10.0.0.1"},
		"unless all are":                              {exposed, []string{labelled("c", "3", "node.kubernetes.io/exclude-from-external-load-balancers")}, nil, "203.0.113.3"},
		"local traffic: nodes with a ready endpoint":  {local, []string{a, b}, []string{onB}, "203.0.113.2 10.0.0.2"},
		"or with one at least":                        {local, []string{a, b}, []string{noneOnB}, "203.0.113.2 10.0.0.2"},
		"or all":                                      {local, []string{a, b}, nil, "203.0.113.1 203.0.113.2 10.0.0.1 10.0.0.2"},
		"traffic of the whole cluster: all nodes":     {exposed, []string{a, b}, []string{onB}, "203.0.113.1 203.0.113.2 10.0.0.1 10.0.0.2"},
	} {
		t.Run(reason, func(t *testing.T) {
			o := manifests{service: test.service, nodes: test.nodes, slices: test.slices}.seen(t)
			assert.Equal(t, words(test.want), targets(o))
		})
	}
	o := manifests{service: exposed, nodes: []string{a}}.seen(t)
	assert.Equal(t, append(of(address.Node, "Node a", "203.0.113.1", "status.addresses[1].address"), of(address.NodeInternal, "Node a", "10.0.0.1", "status.addresses[2].address")...), o.Candidates)
}

func TestEndpointsAreTheAddressesOfAHeadlessService(t *testing.T) {
	const headless = `{spec: {clusterIP: None, clusterIPs: [None], selector: {app: web}}}`
	const some = `{metadata: {namespace: shop, name: web-1}, addressType: IPv4, endpoints: [{addresses: [10.1.0.9]}, {addresses: [10.1.0.1], conditions: {ready: true}}, {addresses: [10.1.0.2], conditions: {ready: false}}]}`
	const none = `{metadata: {namespace: shop, name: web-1}, addressType: IPv4, endpoints: [{addresses: [10.1.0.2], conditions: {ready: false}}]}`
	const six = `{metadata: {namespace: shop, name: web-2}, addressType: IPv6, endpoints: [{addresses: ["fd00::1"], conditions: {ready: true}}]}`
	const names = `{metadata: {namespace: shop, name: web-3}, addressType: FQDN, endpoints: [{addresses: [a.example], conditions: {ready: true}}]}`
	for reason, test := range map[string]struct {
		slices []string
		want   []address.Candidate
	}{
		"those that are ready, or do not say": {[]string{some}, of(address.Endpoint, "EndpointSlice shop/web-1", "10.1.0.1", "endpoints[1].addresses[0]", "10.1.0.9", "endpoints[0].addresses[0]")},
		"all, where none is ready":            {[]string{none}, of(address.Endpoint, "EndpointSlice shop/web-1", "10.1.0.2", "endpoints[0].addresses[0]")},
		"of both families":                    {[]string{none, six}, of(address.Endpoint, "EndpointSlice shop/web-2", "fd00::1", "endpoints[0].addresses[0]")},
		"names are none":                      {[]string{names}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			assert.Equal(t, test.want, manifests{service: headless, slices: test.slices}.seen(t).Candidates)
		})
	}
	assert.Empty(t, manifests{service: `{spec: {clusterIP: 10.0.0.1}}`, slices: []string{some}}.seen(t).Candidates, "others are not reached there")
}

func TestReadinessIsCountedOverSlices(t *testing.T) {
	const selecting = `{spec: {selector: {app: web}}}`
	four := func(name, conditions string) string {
		return `{metadata: {namespace: shop, name: ` + name + `}, addressType: IPv4, endpoints: [{addresses: [10.1.0.1], conditions: ` + conditions + `}]}`
	}
	const empty = `{metadata: {namespace: shop, name: none}, addressType: IPv4}`
	const six = `{metadata: {namespace: shop, name: six}, addressType: IPv6, endpoints: [{addresses: ["fd00::1"], conditions: {ready: true}}]}`
	for reason, test := range map[string]struct {
		service string
		slices  []string
		want    *address.Readiness
	}{
		"no slices: not known":                               {selecting, nil, nil},
		"no selector: whose endpoints they are is not known": {`{}`, []string{four("a", `{ready: false}`)}, nil},
		"a slice without endpoints: none is ready":           {selecting, []string{empty}, &address.Readiness{}},
		"not ready":                              {selecting, []string{four("a", `{ready: false}`), empty}, &address.Readiness{Total: 1}},
		"serving while terminating is not ready": {selecting, []string{four("a", `{ready: false, serving: true, terminating: true}`)}, &address.Readiness{Total: 1}},
		"one of two":                             {selecting, []string{four("a", `{ready: false}`), four("b", `{}`)}, &address.Readiness{Ready: 1, Total: 2}},
		"a pod with two families is one":         {selecting, []string{four("a", `{ready: true}`), six}, &address.Readiness{Ready: 1, Total: 1}},
		"ready in one family":                    {selecting, []string{four("a", `{ready: false}`), six}, &address.Readiness{Ready: 1, Total: 1}},
	} {
		t.Run(reason, func(t *testing.T) {
			assert.Equal(t, test.want, manifests{service: test.service, slices: test.slices}.seen(t).Readiness)
		})
	}
}

// An answer of DNS holds so much, and etcd's values do, too.
func TestEndpointsAndNodesAreBounded(t *testing.T) {
	t.Parallel()
	s := sources{service: &source.Service{Headless: true, NodePorts: true}, slices: []*source.Slice{{Endpoints: make([]source.Endpoint, 3*offersAtMost)}}}
	for n := range s.slices[0].Endpoints {
		s.slices[0].Endpoints[n] = source.Endpoint{Addresses: []string{"10.1.0.1"}, Ready: true}
	}
	s.nodes = []*node{{offers: of(address.Node, "Node a", make([]string, 6*offersAtMost)...)}}
	assert.Len(t, s.observation().Candidates, 2*offersAtMost)
}

func targets(o address.Observation) []string {
	var all []string
	for _, c := range o.Candidates {
		all = append(all, c.Target)
	}
	return all
}

func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Fields(text)
}

// TestWhatAServiceOffersFitsIntoTheStore: who writes a Service, or what leads to
// it, can write more than anybody could publish.
func TestWhatAServiceOffersFitsIntoTheStore(t *testing.T) {
	t.Parallel()
	var many corev1.Service
	var balancers []any
	for i := range 20_000 {
		host := strings.Repeat("x", 60) + strconv.Itoa(i) + ".example"
		many.Spec.ExternalIPs = append(many.Spec.ExternalIPs, "203.0.113.10")
		many.Spec.Ports = append(many.Spec.Ports, corev1.ServicePort{Name: "p" + strconv.Itoa(i), Protocol: "TCP", Port: int32(i)})
		many.Status.LoadBalancer.Ingress = append(many.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{Hostname: host})
		balancers = append(balancers, map[string]any{"hostname": host})
	}
	leading := map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": balancers}}}
	all := sources{service: source.ServiceOf(&many), offers: ingresses().Read(source.Object{Content: leading}).Offers}
	o := all.observation()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	assert.Less(t, len(raw), 256<<10, "each host name may have addresses, too")
	kinds := map[address.Kind]int{}
	for _, c := range o.Candidates {
		kinds[c.Kind]++
	}
	assert.Equal(t, map[address.Kind]int{address.LoadBalancer: offersAtMost, address.External: offersAtMost, address.Ingress: offersAtMost}, kinds)
	assert.Len(t, o.Ports, offersAtMost)
}
