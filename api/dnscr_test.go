package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/internal/seed"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const resolversPath = "/v2/projects/shop/logical-clouds/eu/dns-cr-intents"

// inYAML is the header of a body in YAML.
func inYAML() []string { return []string{"Content-Type", "application/yaml"} }

// specOf is the spec of a DNS object in YAML.
func specOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var object struct{ Spec map[string]any }
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	return object.Spec
}

// TestTheSeedsDNSObjectsArePostedAsTheyAre: in YAML and in JSON; answered is
// our usual document, which can be sent back.
func TestTheSeedsDNSObjectsArePostedAsTheyAre(t *testing.T) {
	t.Parallel()
	objects, err := seed.DNS()
	require.NoError(t, err)
	for name, text := range objects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).fill("DNSCRIntent")
			fromYAML := w.send("POST", "/v2/project/shop/logical-clouds/eu/dns-cr-intents/", text, inYAML()...).want(http.StatusCreated).json()
			require.NotContains(t, fromYAML, "apiVersion")
			require.NotContains(t, fromYAML, "kind")
			require.Equal(t, map[string]any{"warnings": []any{}}, fromYAML["status"])
			want := strings.ReplaceAll(string(mustJSON(t, specOf(t, text))), "nameServers", "nameservers")
			require.JSONEq(t, want, string(mustJSON(t, fromYAML["spec"])))

			sentBack := w.send("PUT", resolversPath+"/default", fromYAML).want(http.StatusOK)
			require.Equal(t, `"1"`, sentBack.Header().Get("ETag"), "what was answered, sent back, changes nothing")
			asJSON, err := yaml.YAMLToJSON([]byte(text))
			require.NoError(t, err)
			w.send("PUT", resolversPath+"/default", string(asJSON)).want(http.StatusOK)
			require.Equal(t, fromYAML["spec"], w.send("GET", resolversPath+"/default", nil).want(http.StatusOK).json()["spec"])
		})
	}
}

// TestTodaysDNSObjectsArePostedAsTheyAre: as oc prints them, status included.
func TestTodaysDNSObjectsArePostedAsTheyAre(t *testing.T) {
	for file, warnings := range map[string]int{"openshift-default.yaml": 1, "openshift-servers.yaml": 0} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			require.NoError(t, err)
			w := newWorld(t).fill("DNSCRIntent")
			stored := w.send("POST", resolversPath, string(text), inYAML()...).want(http.StatusCreated).json()
			require.Equal(t, specOf(t, string(text)), stored["spec"])
			require.Len(t, stored["status"].(map[string]any)["warnings"], warnings, "%v", stored["status"])
			require.NotContains(t, stored["metadata"], "uid")
		})
	}
}

// TestADNSObjectOfOpenShiftsGoClientIsTaken checks that what its types write when
// nothing is set is no error: null, empty names and types.
func TestADNSObjectOfOpenShiftsGoClientIsTaken(t *testing.T) {
	w := newWorld(t).fill("DNSCRIntent")
	object := `{"kind":"DNS","apiVersion":"operator.openshift.io/v1","metadata":{"name":"default","creationTimestamp":null},
		"spec":{"servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com","caBundle":{"name":""}}},"protocolStrategy":""}}],
			"upstreamResolvers":{"upstreams":null,"transportConfig":{},"protocolStrategy":""},"nodePlacement":{},"cache":{"positiveTTL":"1.5s","negativeTTL":"0s"}},
		"status":{"clusterIP":"","clusterDomain":""}}`
	w.send("POST", resolversPath, object).want(http.StatusCreated)
	again := w.send("PUT", resolversPath+"/default", strings.Replace(object, `"upstreams":null`, `"upstreams":[{"type":""},{"type":"SystemResolvConf"}]`, 1)).want(http.StatusOK).json()
	require.Equal(t, map[string]any{"upstreams": []any{map[string]any{"type": "SystemResolvConf"}}, "transportConfig": map[string]any{}},
		again["spec"].(map[string]any)["upstreamResolvers"])
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return raw
}

// dnsBadInputs are issue 4's: each with pointer and remedy.
func dnsBadInputs() map[string]bad {
	plugin := func(fields string) string {
		return `{"metadata":{"name":"x"},"spec":{"pluginConfig":{"forwardPlugins":[{` + fields + `}]}}}`
	}
	server := func(fields string) string {
		return `{"metadata":{"name":"x"},"spec":{"servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{` + fields + `}}]}}`
	}
	toleration := func(fields string) string {
		return `{"metadata":{"name":"x"},"spec":{"nodePlacement":{"tolerations":[{` + fields + `}]}}}`
	}
	const at = "/spec/pluginConfig/forwardPlugins/0"
	all := map[string]bad{
		"more than 15 nameservers":             {body: plugin(`"domain":"foo.com","nameservers":["1.1.1.1"` + strings.Repeat(`,"1.1.1.1"`, 15) + `]`), want: []string{at + "/nameservers: has 16; CoreDNS takes at most 15"}},
		"a nameserver that is a host name":     {body: plugin(`"domain":"foo.com","nameservers":["ns.foo.com"]`), want: []string{at + `/nameservers/0: "ns.foo.com" is not an IP address`, "192.0.2.53:5353"}},
		"a wrong port":                         {body: plugin(`"domain":"foo.com","nameservers":["1.1.1.1:65536"]`), want: []string{at + "/nameservers/0: ", "give 1 to 65535"}},
		"an unbracketed IPv6 with port":        {body: plugin(`"domain":"foo.com","nameservers":["2001:db8::1:5353"]`), want: []string{at + "/nameservers/0: ", "[2001:db8::1]:5353"}},
		"a domain that RFC 1123 forbids":       {body: plugin(`"domain":"foo_bar.com","nameservers":["1.1.1.1"]`), want: []string{at + `/domain: "foo_bar.com" has a label with other characters than letters, digits and '-'`}},
		"cluster.local":                        {body: plugin(`"domain":"cluster.local","nameservers":["1.1.1.1"]`), want: []string{at + "/domain: ", "give another zone"}},
		"an unknown policy":                    {body: plugin(`"domain":"foo.com","nameservers":["1.1.1.1"],"policy":"round_robin"`), want: []string{at + `/policy: "round_robin" is not a valid policy; give Random, RoundRobin or Sequential`}},
		"TLS without a server name":            {body: server(`"upstreams":["1.1.1.1"],"transportConfig":{"transport":"TLS","tls":{}}`), want: []string{"/spec/servers/0/forwardPlugin/transportConfig/tls/serverName: is missing; give the name"}},
		"resolv.conf as upstream of a server":  {body: server(`"upstreams":["/etc/resolv.conf"]`), want: []string{"/spec/servers/0/forwardPlugin/upstreams/0: ", "upstreamResolvers"}},
		"a toleration that Kubernetes refuses": {body: toleration(`"operator":"Exists","value":"x"`), want: []string{"/spec/nodePlacement/tolerations/0/value: ", "remove it"}},
		"a selector that Kubernetes refuses":   {body: `{"metadata":{"name":"x"},"spec":{"nodePlacement":{"nodeSelector":{"disk type":"ssd"}}}}`, want: []string{"/spec/nodePlacement/nodeSelector/disk type: ", "is not a key of a label"}},
		"one zone in two plugins": {body: `{"metadata":{"name":"x"},"spec":{"pluginConfig":{"forwardPlugin":[{"domain":"foo.com","nameServers":["1.1.1.1"]},{"domain":"Foo.com","nameServers":["1.1.1.1"]}]}}}`,
			want: []string{`/spec/pluginConfig/forwardPlugin/1/domain: "Foo.com" is the same zone as /spec/pluginConfig/forwardPlugin/0/domain; merge their nameservers, or remove one of them`}},
		"everything at once, as it was spelled": {body: `{"apiVersion":"operator.openshift.io/v1","kind":"DNS","metadata":{"name":"x"},"spec":{"logLevel":"loud",
			"pluginConfig":{"forwardPlugin":[{"domain":"cluster.local","nameServers":["ns.foo.com","1.1.1.1:x"],"policy":"best"}]},"nodePlacement":{"tolerations":[{"key":"a","effect":"Never"}]}}}`,
			want: []string{"/spec/logLevel: ", "/spec/pluginConfig/forwardPlugin/0/domain: ", "/spec/pluginConfig/forwardPlugin/0/nameServers/0: ",
				"/spec/pluginConfig/forwardPlugin/0/nameServers/1: ", "/spec/pluginConfig/forwardPlugin/0/policy: ", "/spec/nodePlacement/tolerations/0/effect: "}},
		"a misspelled field":       {body: plugin(`"domain":"foo.com","nameserver":["1.1.1.1"]`), want: []string{at + `/nameserver: unknown field "nameserver"; did you mean "nameServers"?`}},
		"a field that is not ours": {body: `{"metadata":{"name":"x"},"spec":{"serviceAccount":"x"}}`, want: []string{`/spec/serviceAccount: unknown field "serviceAccount"`}},
		"another kind":             {body: `{"apiVersion":"operator.openshift.io/v1","kind":"IngressController","metadata":{"name":"x"}}`, want: []string{`/kind: must be one of "DNS"`}},
		"another version":          {body: `{"apiVersion":"config.openshift.io/v1","kind":"DNS","metadata":{"name":"x"}}`, want: []string{`/apiVersion: must be one of "operator.openshift.io/v1"`}},
		"autopath of an import":    {body: `{"metadata":{"name":"x"},"spec":{"mode":"import","autopath":{"mode":"edns0"},"nodeLocalDNS":{"enabled":true}}}`, want: []string{"/spec/autopath: is not supported with mode import", "/spec/nodeLocalDNS: is not supported with mode import"}},
		"autopath without a cache": {body: `{"metadata":{"name":"x"},"spec":{"autopath":{"mode":"edns0"},"nodeLocalDNS":{"enabled":false}}}`, want: []string{"/spec/nodeLocalDNS/enabled: is false, but autopath of mode edns0 needs that cache"}},
		"autopath as a switch":     {body: `{"metadata":{"name":"x"},"spec":{"autopath":true}}`, want: []string{`/spec/autopath: must be an object as in {"mode":"edns0"}, not a boolean`}},
		"autopath as a word":       {body: `{"metadata":{"name":"x"},"spec":{"autopath":"edns0"}}`, want: []string{`/spec/autopath: must be an object as in {"mode":"edns0"}, not text`}},
		"an option that is taken":  {body: `{"metadata":{"name":"x"},"spec":{"autopath":{"option":15}}}`, want: []string{"/spec/autopath/option: must be a whole number from 65001 to 65534", "15 by extended errors (RFC 8914)"}},
		"an option for others":     {body: `{"metadata":{"name":"x"},"spec":{"autopath":{"option":15}}}`, want: []string{"/spec/autopath/option: ", "65001"}},
		"kube-system":              {body: `{"metadata":{"name":"x"},"spec":{"namespace":"kube-system"}}`, want: []string{"/spec/namespace: "}},
	}
	for name, b := range all {
		b.path = resolversPath
		all[name] = b
	}
	return all
}

func TestBadInputOfDNSCRIntentsIsRefusedByNameAndLeavesNoTrace(t *testing.T) {
	w := newWorld(t).fill("")
	for name, b := range dnsBadInputs() {
		t.Run(name, func(t *testing.T) {
			before := w.kv.Revision()
			for _, header := range [][]string{nil, inYAML()} { // JSON is YAML
				problem := w.send("POST", b.path, b.body, header...).want(http.StatusBadRequest).problem()
				for _, want := range b.want {
					require.Contains(t, problem, want)
				}
			}
			require.Equal(t, before, w.kv.Revision(), "it left a trace")
		})
	}
}

func TestBodiesInYAML(t *testing.T) {
	t.Parallel()
	const object = "metadata: {name: x}\nspec: {logLevel: Debug}\n"
	for name, c := range map[string]struct {
		body, problem string
		accepted      bool
	}{
		"a document":                     {body: object, accepted: true},
		"with its marker and comments":   {body: "# mine\n---\n# more\n" + object + "---\n# nothing\n", accepted: true},
		"with a directive and an end":    {body: "%YAML 1.1\n---\n" + object + "...\n", accepted: true},
		"with Windows' line ends":        {body: "---\r\nmetadata: {name: x}\r\n", accepted: true},
		"a scalar that looks like one":   {body: "metadata:\n  name: x\n  description: |\n    ---\n    a\n", accepted: true},
		"an anchor":                      {body: "metadata: {name: x}\nspec:\n  servers:\n  - {name: a, zones: [a.com], forwardPlugin: &f {upstreams: [1.2.3.4]}}\n  - {name: b, zones: [b.com], forwardPlugin: *f}\n", accepted: true},
		"two documents":                  {body: object + "---\n" + object, problem: ": holds several YAML documents; send one"},
		"an empty one":                   {body: "# nothing\n", problem: ": is empty; send a YAML object"},
		"none":                           {body: "", problem: ": is empty; send a YAML object"},
		"a list":                         {body: "- a\n", problem: ": must be a JSON object"},
		"a text":                         {body: "hello", problem: ": must be a JSON object"},
		"a key twice":                    {body: "metadata: {name: x}\nmetadata: {name: y}\n", problem: `key "metadata" already set`},
		"broken":                         {body: "metadata: {name: x\nspec: [}", problem: ": is not a valid YAML: yaml: line "},
		"no UTF-8":                       {body: "metadata: {name: \"\xff\"}", problem: ": is not UTF-8"},
		"a word that YAML takes for one": {body: "metadata: {name: x}\nspec: {nodePlacement: {nodeSelector: {dns: yes}}}", problem: "/spec/nodePlacement/nodeSelector/dns: must be text, not a boolean"},
		"a bomb":                         {body: bomb(), problem: "repeat more than 64 KiB"},
		"a long text, often":             {body: longOften(), problem: ": is not a valid YAML: line 4: aliases (*name) repeat more than 64 KiB"},
		"nested too deep":                {body: strings.Repeat("[", 200_000), problem: ": is not a valid YAML: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).fill("DNSCRIntent")
			answer := w.send("POST", resolversPath, c.body, inYAML()...)
			if c.accepted {
				answer.want(http.StatusCreated)
				return
			}
			require.Contains(t, answer.want(http.StatusBadRequest).problem(), c.problem)
		})
	}
}

// bomb is YAML of a few lines that stands for billions of values.
func bomb() string {
	lines := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i, name := range strings.Split("123456789", "") {
		last := string(rune('0' + i))
		lines += "a" + name + ": &a" + name + " [" + strings.TrimSuffix(strings.Repeat("*a"+last+",", 10), ",") + "]\n"
	}
	return lines
}

// longOften is YAML of 215 KB that stands for a gigabyte.
func longOften() string {
	const times, long = 5000, 200_000
	return "metadata:\n  name: x\n  description: &a \"" + strings.Repeat("a", long) + "\"\nspec: {x: [" + strings.TrimSuffix(strings.Repeat("*a,", times), ",") + "]}\n"
}

func TestYAMLIsTakenForDNSCRIntentsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSCRIntent")
	require.Contains(t, w.send("POST", "/v2/projects", "metadata: {name: x}", inYAML()...).want(http.StatusUnsupportedMediaType).problem(), "must be application/json")
	require.Contains(t, w.send("POST", resolversPath, "metadata: {name: x}", "Content-Type", "text/yaml").want(http.StatusUnsupportedMediaType).problem(),
		"must be application/json or application/yaml")
	w.send("POST", resolversPath, "metadata: {name: x}", "Content-Type", "application/yaml; charset=latin1").want(http.StatusUnsupportedMediaType)
	w.send("POST", resolversPath, "metadata: {name: x}", "Content-Type", "application/yaml;charset=UTF-8").want(http.StatusCreated)
	w.send("PUT", resolversPath+"/x", "metadata: {name: x}\nspec: {logLevel: TRACE}", inYAML()...).want(http.StatusOK)
	w.send("PUT", resolversPath+"/x", strings.Repeat(" ", 2<<20), inYAML()...).want(http.StatusRequestEntityTooLarge)
}

// FuzzDNSCRIntents sends any body in YAML, which JSON is too: it is accepted or
// refused, what is accepted reads back the same, and both media agree.
func FuzzDNSCRIntents(f *testing.F) {
	objects, err := seed.DNS()
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range objects {
		f.Add(text)
	}
	for _, b := range dnsBadInputs() {
		f.Add(b.body)
	}
	for _, odd := range []string{bomb(), "a: b\n---\nc: d", "? [a]\n: b", "a: !!binary eA==", "a: 2026-01-01", "<<: {a: b}", "- \t", "'", "&a [*a]", "metadata: {name: .inf}", "\ufeffmetadata: {name: x}"} {
		f.Add(odd)
	}
	f.Fuzz(func(t *testing.T, body string) {
		w := newWorld(t).fill("DNSCRIntent")
		sent := w.send("POST", resolversPath, body, inYAML()...)
		if sent.Code >= http.StatusInternalServerError {
			t.Fatalf("%q answered %d: %s", body, sent.Code, sent.Body)
		}
		if sent.Code == http.StatusCreated {
			stored := w.send("GET", sent.Header().Get("Location"), nil).want(http.StatusOK)
			w.send("PUT", sent.Header().Get("Location"), stored.Body.String()).want(http.StatusOK)
		}
		if json.Valid([]byte(body)) && w.send("POST", resolversPath, body).Code == http.StatusCreated && sent.Code != http.StatusCreated {
			t.Fatalf("%q is taken as JSON, but not as YAML: %s", body, sent.Body)
		}
	})
}

// bareStatus answers a status in which nothing was observed.
type bareStatus struct{ *lifecycle }

func (bareStatus) Status(context.Context, intent.Path) (intent.Status, error) {
	return intent.Status{State: intent.Instantiating, DNS: []intent.DNSStatus{
		{Mode: intent.Dedicated, ClusterRef: intent.ClusterRef{ClusterProvider: "edge", Cluster: "berlin"}, Placement: &intent.PlacementStatus{}, NodeCache: &intent.NodeCacheStatus{LocalIP: "169.254.20.10"}},
	}}, nil
}

// TestAStatusOfALogicalCloudHasNoNullLists: the response is checked against
// openapi.yaml.
func TestAStatusOfALogicalCloudHasNoNullLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) {
		known, _ := o.Lifecycle.(*lifecycle)
		o.Lifecycle = bareStatus{known}
	}).fill("DNSCRIntent")
	status := w.send("GET", "/v2/projects/shop/logical-clouds/eu/status", nil).want(http.StatusOK).json()
	dns, _ := status["dns"].([]any)
	berlin, _ := dns[0].(map[string]any)
	require.Equal(t, []any{}, berlin["upstreams"])
	require.Equal(t, []any{}, berlin["placement"].(map[string]any)["excluded"])
	require.Equal(t, map[string]any{"localIP": "169.254.20.10", "message": ""}, berlin["nodeLocalDNS"], "whether they are available is not known")
}

// TestALogicalCloudsActionsAreItsOwn: each goes to the lifecycle by the logical
// cloud's path.
func TestALogicalCloudsActionsAreItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSCRIntent")
	const cloud = "/v2/project/shop/logical-clouds/eu"
	for path, asked := range map[string]string{
		"/plan?for=update":        "plan update 0",
		"/instantiate?confirm=ab": "instantiate ab anonymous",
		"/update/":                "update  anonymous",
		"/rollback?to=2":          "rollback 2  anonymous",
		"/terminate":              "terminate false  anonymous",
	} {
		w.send("POST", cloud+path, nil)
		require.Equal(t, asked+" projects/shop/logical-clouds/eu", w.lifecycle.asked[len(w.lifecycle.asked)-1])
	}
	require.NotEmpty(t, w.send("GET", cloud+"/events", nil).want(http.StatusOK).json()["items"])
	w.send("GET", "/v2/projects/shop/logical-clouds/none/status", nil).want(http.StatusNotFound)
}
