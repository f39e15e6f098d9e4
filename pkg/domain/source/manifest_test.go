package source

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

func TestWhatManifestsOffer(t *testing.T) {
	const head = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}`
	for _, c := range []struct {
		reason   string
		manifest string
		want     *address.Observation
	}{
		{"status, in the order of its fields", head + `,"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.1"},{"hostname":"lb.example"},{"ip":"2001:db8::1","hostname":"b.example"}]}}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{
				{Kind: address.LoadBalancer, Target: "203.0.113.1", Field: "status.loadBalancer.ingress[0].ip"}, {Kind: address.LoadBalancer, Target: "lb.example", Field: "status.loadBalancer.ingress[1].hostname"},
				{Kind: address.LoadBalancer, Target: "2001:db8::1", Field: "status.loadBalancer.ingress[2].ip"}, {Kind: address.LoadBalancer, Target: "b.example", Field: "status.loadBalancer.ingress[2].hostname"}}}},
		{"external IPs", head + `,"spec":{"externalIPs":["203.0.113.1","203.0.113.2"]}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.External, Target: "203.0.113.1", Field: "spec.externalIPs[0]"}, {Kind: address.External, Target: "203.0.113.2", Field: "spec.externalIPs[1]"}}}},
		{"loadBalancerIP without status", head + `,"spec":{"loadBalancerIP":"203.0.113.1"},"status":{"loadBalancer":{}}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: "203.0.113.1", Field: "spec.loadBalancerIP"}}}},
		{"loadBalancerIP with status", head + `,"spec":{"loadBalancerIP":"203.0.113.1"},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.2"}]}}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: "203.0.113.2", Field: "status.loadBalancer.ingress[0].ip"}}}},
		{"status and external IPs together", head + `,"spec":{"externalIPs":["203.0.113.1"]},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.2"}]}}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: "203.0.113.2", Field: "status.loadBalancer.ingress[0].ip"}, {Kind: address.External, Target: "203.0.113.1", Field: "spec.externalIPs[0]"}}}},
		{"external IPs and loadBalancerIP", head + `,"spec":{"externalIPs":["203.0.113.1"],"loadBalancerIP":"203.0.113.2"}}`,
			&address.Observation{Found: true, Candidates: []address.Candidate{{Kind: address.LoadBalancer, Target: "203.0.113.2", Field: "spec.loadBalancerIP"}, {Kind: address.External, Target: "203.0.113.1", Field: "spec.externalIPs[0]"}}}},
		{"not an address", head + `}`, &address.Observation{Found: true}},
		{"fields of wrong types", head + `,"spec":7,"status":{"loadBalancer":[]}}`, &address.Observation{Found: true}},
		{"not a namespace", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`, &address.Observation{Found: true}},
		{"in a List", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod"},` + head + `}]}`, &address.Observation{Found: true}},
		{"another namespace", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"other"}}`, &address.Observation{}},
		{"another name", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"api"}}`, &address.Observation{}},
		{"another kind", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}`, &address.Observation{}},
		{"another group's Service", `{"apiVersion":"serving.knative.dev/v1","kind":"Service","metadata":{"name":"web"}}`, &address.Observation{}},
		{"no JSON", `{`, &address.Observation{}},
		{"null", `null`, &address.Observation{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			assert.Equal(t, c.want, FromManifests([]json.RawMessage{json.RawMessage(c.manifest)}, "shop", "web"))
		})
	}
}

func TestManifestsLeadToServices(t *testing.T) {
	const (
		web       = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"name":"http","port":80},{"port":81},{"name":"sip","protocol":"UDP","port":5060}]}}`
		ingress   = `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"front","namespace":"shop"},"spec":{"rules":[{},{"http":{"paths":[{"backend":{"service":{"name":"web"}}}]}}]},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.20"}]}}}`
		byDefault = `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"all"},"spec":{"defaultBackend":{"service":{"name":"web"}}},"status":{"loadBalancer":{"ingress":[{"hostname":"in.example"}]}}}`
		route     = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"r"},"spec":{"parentRefs":[{"name":"edge","namespace":"infra"}],"rules":[{"backendRefs":[{"name":"web"}]}]}}`
		refused   = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"r"},"spec":{"parentRefs":[{"name":"edge","namespace":"infra"}],"rules":[{"backendRefs":[{"name":"web"}]}]},"status":{"parents":[{"parentRef":{"name":"edge","namespace":"infra"},"conditions":[{"type":"Accepted","status":"False"}]}]}}`
		edge      = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"edge","namespace":"infra"},"spec":{"addresses":[{"value":"203.0.113.30"}]}}`
		running   = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"edge","namespace":"infra"},"spec":{"addresses":[{"value":"203.0.113.30"}]},"status":{"addresses":[{"type":"Hostname","value":"gw.example"}]}}`
	)
	for reason, c := range map[string]struct {
		manifests []string
		want      []address.Candidate
	}{
		"an Ingress": {[]string{web, ingress}, []address.Candidate{{Kind: address.Ingress, Object: "Ingress shop/front", Target: "203.0.113.20", Field: "status.loadBalancer.ingress[0].ip"}}},
		"an Ingress by its default backend, whatever the order": {[]string{byDefault, web}, []address.Candidate{{Kind: address.Ingress, Object: "Ingress shop/all", Target: "in.example", Field: "status.loadBalancer.ingress[0].hostname"}}},
		"another namespace's Ingress":                           {[]string{web, strings.ReplaceAll(ingress, `"shop"`, `"other"`)}, nil},
		"an Ingress that leads elsewhere":                       {[]string{web, strings.ReplaceAll(ingress, `"web"`, `"api"`)}, nil},
		"a Gateway that a route asks for":                       {[]string{edge, route, web}, []address.Candidate{{Kind: address.Gateway, Object: "Gateway infra/edge", Target: "203.0.113.30", Field: "spec.addresses[0].value"}}},
		"a Gateway with a status":                               {[]string{running, route, web}, []address.Candidate{{Kind: address.Gateway, Object: "Gateway infra/edge", Target: "gw.example", Field: "status.addresses[0].value"}}},
		"a Gateway that has refused the route":                  {[]string{edge, refused, web}, nil},
		"a Gateway without a route":                             {[]string{edge, web}, nil},
		"a route to another Service":                            {[]string{edge, strings.ReplaceAll(route, `"web"`, `"api"`), web}, nil},
		"of other types":                                        {[]string{web, strings.ReplaceAll(ingress, `[{},`, `[7,`), strings.ReplaceAll(route, `"edge"`, `7`)}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			var raw []json.RawMessage
			for _, text := range c.manifests {
				raw = append(raw, json.RawMessage(text))
			}
			want := &address.Observation{Found: true, Candidates: c.want, Ports: []address.Port{{Name: "http", Protocol: "TCP", Number: 80}, {Name: "sip", Protocol: "UDP", Number: 5060}}}
			assert.Equal(t, want, FromManifests(raw, "shop", "web"))
		})
	}
	assert.Equal(t, &address.Observation{}, FromManifests([]json.RawMessage{json.RawMessage(ingress)}, "shop", "web"), "without a Service nothing leads to it")
}

func TestManifestsAreAllThereIsToObserve(t *testing.T) {
	assert.Equal(t, &address.Observation{}, FromManifests(nil, "shop", "web"), "absent, not unknown")
	service := json.RawMessage(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"externalIPs":["203.0.113.1"]}}`)
	other := json.RawMessage(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"other"},"spec":{"externalIPs":["203.0.113.2"]}}`)
	o := FromManifests([]json.RawMessage{other, json.RawMessage(`[`), service}, "shop", "web")
	require.Len(t, o.Candidates, 1)
	assert.Equal(t, "203.0.113.1", o.Candidates[0].Target)
}

// FuzzFromManifests: whatever the manifest, there is an answer, the same each
// time, whose candidates say what they are and where they stand.
func FuzzFromManifests(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"externalIPs":["203.0.113.1"],"loadBalancerIP":"x"}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[null,{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"status":{"loadBalancer":{"ingress":[{"ip":""}]}}}]}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[[[[]]]]}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}},{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","spec":{"defaultBackend":{"service":{"name":"web"}}},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.1"}]}}}]}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}},{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"a"},"spec":{"addresses":[{"value":"x"}]}},{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","spec":{"parentRefs":[{"name":"a"}],"rules":[{"backendRefs":[{"name":"web"}]}]}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := FromManifests([]json.RawMessage{raw}, "shop", "web")
		require.NotNil(t, o)
		assert.Equal(t, o, FromManifests([]json.RawMessage{raw}, "shop", "web"))
		assert.True(t, o.Found || len(o.Candidates) == 0)
		for _, c := range o.Candidates {
			assert.NotEmpty(t, c.Target)
			assert.NotEmpty(t, c.Field)
		}
	})
}
