package address

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatManifestsOffer(t *testing.T) {
	const head = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}`
	for _, c := range []struct {
		reason   string
		manifest string
		want     *Observation
	}{
		{"status, in the order of its fields", head + `,"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.1"},{"hostname":"lb.example"},{"ip":"2001:db8::1","hostname":"b.example"}]}}}`,
			&Observation{Found: true, Candidates: []Candidate{
				{Target: "203.0.113.1", Field: "status.loadBalancer.ingress[0].ip"}, {Target: "lb.example", Field: "status.loadBalancer.ingress[1].hostname"},
				{Target: "2001:db8::1", Field: "status.loadBalancer.ingress[2].ip"}, {Target: "b.example", Field: "status.loadBalancer.ingress[2].hostname"}}}},
		{"external IPs", head + `,"spec":{"externalIPs":["203.0.113.1","203.0.113.2"]}}`,
			&Observation{Found: true, Candidates: []Candidate{{Target: "203.0.113.1", Field: "spec.externalIPs[0]"}, {Target: "203.0.113.2", Field: "spec.externalIPs[1]"}}}},
		{"loadBalancerIP without status", head + `,"spec":{"loadBalancerIP":"203.0.113.1"},"status":{"loadBalancer":{}}}`,
			&Observation{Found: true, Candidates: []Candidate{{Target: "203.0.113.1", Field: "spec.loadBalancerIP"}}}},
		{"loadBalancerIP with status", head + `,"spec":{"loadBalancerIP":"203.0.113.1"},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.2"}]}}}`,
			&Observation{Found: true, Candidates: []Candidate{{Target: "203.0.113.2", Field: "status.loadBalancer.ingress[0].ip"}}}},
		{"status and external IPs together", head + `,"spec":{"externalIPs":["203.0.113.1"]},"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.2"}]}}}`,
			&Observation{Found: true, Candidates: []Candidate{{Target: "203.0.113.2", Field: "status.loadBalancer.ingress[0].ip"}, {Target: "203.0.113.1", Field: "spec.externalIPs[0]"}}}},
		{"external IPs and loadBalancerIP", head + `,"spec":{"externalIPs":["203.0.113.1"],"loadBalancerIP":"203.0.113.2"}}`,
			&Observation{Found: true, Candidates: []Candidate{{Target: "203.0.113.1", Field: "spec.externalIPs[0]"}, {Target: "203.0.113.2", Field: "spec.loadBalancerIP"}}}},
		{"no address", head + `}`, &Observation{Found: true}},
		{"fields of wrong types", head + `,"spec":7,"status":{"loadBalancer":[]}}`, &Observation{Found: true}},
		{"no namespace", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}`, &Observation{Found: true}},
		{"in a List", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod"},` + head + `}]}`, &Observation{Found: true}},
		{"another namespace", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"other"}}`, &Observation{}},
		{"another name", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"api"}}`, &Observation{}},
		{"another kind", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}`, &Observation{}},
		{"another group's Service", `{"apiVersion":"serving.knative.dev/v1","kind":"Service","metadata":{"name":"web"}}`, &Observation{}},
		{"no JSON", `{`, &Observation{}},
		{"null", `null`, &Observation{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			assert.Equal(t, c.want, FromManifests([]json.RawMessage{json.RawMessage(c.manifest)}, "shop", "web"))
		})
	}
}

func TestManifestsAreAllThereIsToObserve(t *testing.T) {
	assert.Equal(t, &Observation{}, FromManifests(nil, "shop", "web"), "absent, not unknown")
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
