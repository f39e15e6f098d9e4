package poddns

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

const front intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/pod-dns-intents/web"

// asked is a pod DNS intent with the spec, as it was written.
func asked(t *testing.T, spec string) plan.PodDNS {
	t.Helper()
	dns := plan.PodDNS{Intent: front, Autopath: []plan.PodAutopath{{
		Cluster: "edge+berlin", Nameserver: "169.254.20.10", Search: "search.shop.cluster.local.ap.k8s.io",
	}}}
	require.NoError(t, json.Unmarshal([]byte(spec), &dns.Spec))
	return dns
}

// deployment is one whose pods have these fields, as JSON.
func deployment(t *testing.T, pod string) Manifest {
	t.Helper()
	var m Manifest
	require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":`+pod+`}}}`), &m))
	return m
}

// rendered are the DNS settings of the pods of a rendered manifest, as JSON.
func rendered(t *testing.T, m Manifest) string {
	t.Helper()
	pod := m["spec"].(Manifest)["template"].(Manifest)["spec"].(Manifest)
	raw, err := json.Marshal(map[string]any{policyField: pod[policyField], configField: pod[configField]})
	require.NoError(t, err)
	return string(raw)
}

func TestPoliciesAreKubernetesOwn(t *testing.T) {
	for policy, want := range map[string]string{
		"Default": "Default", "ClusterFirst": "ClusterFirst", "ClusterFirstWithHostNet": "ClusterFirstWithHostNet", "None": "None", "Custom": "None",
	} {
		got, findings := Render(deployment(t, `{"dnsPolicy":"ClusterFirst"}`), asked(t, `{"dnsPolicy":"`+policy+`"}`), "edge+berlin")
		assert.Empty(t, findings)
		assert.JSONEq(t, `{"dnsPolicy":"`+want+`","dnsConfig":null}`, rendered(t, got))
	}
}

func TestAutopathInAnyLetterCase(t *testing.T) {
	for _, policy := range []string{"clusterFirstWithAutopath", "ClusterFirstWithAutopath", "CLUSTERFIRSTWITHAUTOPATH"} {
		got, findings := Render(deployment(t, `{}`), asked(t, `{"dnsPolicy":"`+policy+`"}`), "edge+berlin")
		assert.Empty(t, findings)
		assert.JSONEq(t, `{"dnsPolicy":"None","dnsConfig":{"nameservers":["169.254.20.10"],
			"searches":["search.shop.cluster.local.ap.k8s.io"],"options":[{"name":"ndots","value":"5"}]}}`, rendered(t, got))
	}
}

// TestAutopathIsASCII: a letter that Unicode folds to one of it makes another
// word.
func TestAutopathIsASCII(t *testing.T) {
	for _, policy := range []intent.DNSPolicy{"clu\u017fterFirstWithAutopath", "clusterFir\u017ftWithAutopath"} {
		assert.Equal(t, policy, policy.Canonical())
	}
}

// TestWhereAutopathIsNotKnownPodsStayAsTheyAre: that it is not has been said.
func TestWhereAutopathIsNotKnownPodsStayAsTheyAre(t *testing.T) {
	m := deployment(t, `{"dnsPolicy":"Default"}`)
	got, findings := Render(m, asked(t, `{"dnsPolicy":"clusterFirstWithAutopath"}`), "edge+paris")
	assert.Empty(t, findings)
	assert.Equal(t, m, got)
}

func TestTheSettingsOfTheTemplateComeFirst(t *testing.T) {
	got, findings := Render(
		deployment(t, `{"dnsConfig":{"nameservers":["192.0.2.1"],"searches":["a.example"],"options":[{"name":"ndots","value":"5"},{"name":"rotate"}]}}`),
		asked(t, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2"],"search":["b.example","a.example"],"options":[{"name":"edns0"},{"name":"ndots","value":1}]}}`),
		"edge+berlin")
	assert.Empty(t, findings)
	assert.JSONEq(t, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2"],"searches":["a.example","b.example"],
		"options":[{"name":"ndots","value":"1"},{"name":"rotate"},{"name":"edns0"}]}}`, rendered(t, got))
}

// TestATemplateIsReadAsKubernetesReadsIt: by the exact names of fields; what it
// has beside them stays as it is, and autopath sets it aside.
func TestATemplateIsReadAsKubernetesReadsIt(t *testing.T) {
	const others = `"Nameservers":["192.0.2.9"],"search":["x.example"],"OPTIONS":[{"name":"rotate"}],"newer":{"a":[1]}`
	pod := `{"DNSPolicy":"Default","dnsConfig":{"searches":["a.example"],` + others + `}}`
	got, findings := Render(deployment(t, pod), asked(t, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"search":["b.example"]}}`), "edge+berlin")
	assert.Empty(t, findings)
	assert.JSONEq(t, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"searches":["a.example","b.example"],`+others+`}}`, rendered(t, got))
	got, _ = Render(deployment(t, pod), asked(t, `{"dnsPolicy":"clusterFirstWithAutopath"}`), "edge+berlin")
	assert.NotContains(t, rendered(t, got), "newer")
}

// TestAManifestIsNotWrittenInto: it belongs to a release.
func TestAManifestIsNotWrittenInto(t *testing.T) {
	m := deployment(t, `{"dnsConfig":{"options":[{"name":"ndots","value":"5"}]},"containers":[]}`)
	before, err := json.Marshal(m)
	require.NoError(t, err)
	got, _ := Render(m, asked(t, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":"1"}]}}`), "edge+berlin")
	assert.NotEqual(t, m, got)
	after, err := json.Marshal(m)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after))
}

// domains are so many, no two alike, as a JSON list.
func domains(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%q", fmt.Sprintf("x%d.example", i)))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func TestFindings(t *testing.T) {
	const autopath = `{"dnsPolicy":"clusterFirstWithAutopath"}`
	for _, c := range []struct {
		reason, pod, spec string
		pointer, detail   string
		refused           bool
	}{
		{
			"more nameservers than Kubernetes takes, after merging", `{"dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2"]}}`,
			`{"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.3","192.0.2.4"]}}`,
			"/spec/dnsConfig/nameservers", `Deployment "web" would have 4 nameservers; Kubernetes takes at most 3, the app's own included`, true,
		},
		{
			"more searches", `{"dnsConfig":{"searches":` + domains(33) + `}}`, `{"dnsPolicy":"ClusterFirst"}`,
			"/spec/dnsConfig/searches", "would have 33 searches", true,
		},
		{
			"more characters", `{"dnsConfig":{"searches":` + strings.ReplaceAll(domains(9), ".example", "."+strings.Repeat("x", 230)) + `}}`, `{"dnsPolicy":"ClusterFirst","dnsConfig":{"searches":["own.example"]}}`,
			"/spec/dnsConfig/searches", "searches of 2117 characters", true,
		},
		{
			"a search that is too long by itself", `{"dnsConfig":{"searches":["` + strings.Repeat("x", 254) + `.","` + strings.Repeat("y", 253) + `."]}}`, `{"dnsPolicy":"ClusterFirst"}`,
			"/spec/dnsConfig/searches", "would have a search of 254 characters; Kubernetes allows at most 253", true,
		},
		{
			"more than autopath leaves", `{}`, `{"dnsPolicy":"clusterFirstWithAutopath","dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3"]}}`,
			"/spec/dnsConfig/nameservers", "would have 4 nameservers", true,
		},
		{
			"autopath on the node's network", `{"hostNetwork":true}`, autopath,
			"/spec/dnsPolicy", `Deployment "web" has hostNetwork: true, where clusterFirstWithAutopath cannot work; use ClusterFirstWithHostNet`, true,
		},
		{
			"ClusterFirst on the node's network", `{"hostNetwork":true}`, `{"dnsPolicy":"ClusterFirst"}`,
			"/spec/dnsPolicy", "where kubelet treats ClusterFirst as Default; use ClusterFirstWithHostNet", false,
		},
		{
			"settings that autopath sets aside", `{"dnsConfig":{"searches":["a.example"]}}`, autopath,
			"/spec/dnsPolicy", "has a dnsConfig of its own, which is ignored", false,
		},
		{
			"the malformed form of the seed in a template", `{"dnsConfig":[{"options":[{"name":"ndots"},{"value":1}]}]}`, `{"dnsPolicy":"ClusterFirst"}`,
			"/spec/app", `has no valid dnsConfig: it is an object, as in {"options": [{"name": "ndots", "value": "1"}]}`, true,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, findings := Render(deployment(t, c.pod), asked(t, c.spec), "edge+berlin")
			require.Len(t, findings, 1)
			f := findings[0]
			assert.Equal(t, []any{front, c.pointer, c.refused}, []any{f.Intent, f.Pointer, f.Refused})
			assert.Contains(t, f.Detail, c.detail)
		})
	}
}

func TestOnTheNodesNetworkOtherPoliciesAreAsTheySay(t *testing.T) {
	for _, policy := range []string{"Default", "ClusterFirstWithHostNet", "None"} {
		_, findings := Render(deployment(t, `{"hostNetwork":true}`), asked(t, `{"dnsPolicy":"`+policy+`"}`), "edge+berlin")
		assert.Empty(t, findings, policy)
	}
	_, findings := Render(deployment(t, `{"hostNetwork":false}`), asked(t, `{"dnsPolicy":"clusterFirstWithAutopath"}`), "edge+berlin")
	assert.Empty(t, findings)
}

func TestWhatMakesNoPodsIsAsItWas(t *testing.T) {
	for _, manifest := range []string{
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"selector":{"app":"web"}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{}}`,
		`{"apiVersion":"example.com/v1","kind":"Deployment","spec":{"template":{"spec":{"nodes":3}}}}`,
	} {
		var m Manifest
		require.NoError(t, json.Unmarshal([]byte(manifest), &m))
		got, findings := Render(m, asked(t, `{"dnsPolicy":"Default"}`), "edge+berlin")
		assert.Equal(t, m, got)
		assert.Empty(t, findings)
	}
}

// TestOtherKindsWithPodsAreNamed and left alone.
func TestOtherKindsWithPodsAreNamed(t *testing.T) {
	for kind, version := range map[string]string{"Rollout": "argoproj.io/v1alpha1", "Deployment": "example.com/v1"} {
		m := deployment(t, `{"containers":[{"name":"web"}]}`)
		m["kind"], m["apiVersion"] = kind, version
		got, findings := Render(m, asked(t, `{"dnsPolicy":"Default"}`), "edge+berlin")
		assert.Equal(t, m, got)
		require.Len(t, findings, 1)
		assert.False(t, findings[0].Refused)
		assert.Contains(t, findings[0].Detail, kind+` "web" has pods whose DNS stays as it is`)
	}
}
