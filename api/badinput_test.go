package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bad is an input that must be refused.
type bad struct {
	path string // of the collection it is posted to
	body string
	want []string // parts of the problem
}

const (
	recordsPath = "/v2/project/shop/dns-update-records"
	groupsPath  = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups"
	intentsPath = groupsPath + "/prod/traffic-group-intents/front/dns-intents"
)

// record is a record's body with these parameters.
func record(parameters string) string {
	return `{"metadata":{"name":"x"},"spec":{"provider":"coredns","external-dns-parameters":{` + parameters + `}}}`
}

// members are n more members of an object.
func members(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `,"m%d":1`, i)
	}
	return text.String()
}

func badInputs() map[string]bad {
	return map[string]bad{
		"another provider's parameter": {recordsPath, record(`"aws-zone-type":"public"`), []string{"/spec/external-dns-parameters/aws-zone-type: ", "aws"}},
		"an unknown parameter":         {recordsPath, record(`"coredns-prefx":"/x/"`), []string{"/spec/external-dns-parameters/coredns-prefx: ", "coredns-prefix"}},
		"a duration":                   {recordsPath, record(`"interval":"soon"`), []string{"/spec/external-dns-parameters/interval: "}},
		"a template":                   {recordsPath, record(`"fqdn-template":"{{.Name"`), []string{"/spec/external-dns-parameters/fqdn-template: "}},
		"a parameter that is an object": {recordsPath, record(`"policy":{"a":1}`),
			[]string{"/spec/external-dns-parameters/policy: must be text, a number, a boolean, or a list of these"}},
		"an image that is not allowed": {recordsPath, `{"metadata":{"name":"x"},"spec":{"provider":"coredns","image":"evil.example/x:v1"}}`, []string{"/spec/image: "}},
		"a release timeout": {recordsPath, `{"metadata":{"name":"x"},"spec":{"provider":"coredns","releaseTimeout":"soon"}}`,
			[]string{"/spec/releaseTimeout: must be a duration as in 30s, 5m or 1h30m"}},
		"more than all names": {recordsPath, `{"metadata":{"name":"x"},"spec":{"provider":"coredns","maxRemoval":101}}`,
			[]string{`/spec/maxRemoval: must be a whole number from 0 to 100, or text such as "25%"`}},
		"a share in words": {recordsPath, `{"metadata":{"name":"x"},"spec":{"provider":"coredns","maxRemoval":"a quarter"}}`,
			[]string{`/spec/maxRemoval: must be a whole number from 0 to 100, or text such as "25%"`}},
		"a broken kubeconfig": {"/v2/cluster-providers/edge/clusters", `{"metadata":{"name":"x"},"spec":{"kubeconfig":"%"}}`, []string{"/spec/kubeconfig: "}},
		"a cluster-scoped manifest": {groupsPath, `{"metadata":{"name":"x"},"spec":{"logicalCloud":"eu","apps":[{"name":"web","manifests":[
			{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}}]}]}}`, []string{"/spec/apps/0/manifests/0"}},
		"a manifest without a kind": {groupsPath, `{"metadata":{"name":"x"},"spec":{"logicalCloud":"eu","apps":[{"name":"web","manifests":[
			{"apiVersion":"v1","metadata":{"name":"x"}}]}]}}`, []string{"/spec/apps/0/manifests/0/kind: is missing; give text"}},
		"odd characters": {"/v2/projects", `{"metadata":{"name":"sh/op"}}`,
			[]string{"/metadata/name: must be 1 to 63 letters, digits, - _ or ., with a letter or digit at both ends"}},
		"a long name":       {"/v2/projects", `{"metadata":{"name":"` + strings.Repeat("a", 64) + `"}}`, []string{"/metadata/name: must be 1 to 63"}},
		"no name":           {"/v2/projects", `{"metadata":{"name":""}}`, []string{"/metadata/name: must be 1 to 63"}},
		"a missing name":    {"/v2/projects", `{"metadata":{}}`, []string{"/metadata/name: is missing; give 1 to 63 letters"}},
		"no metadata":       {"/v2/projects", `{}`, []string{"/metadata: is missing; give an object"}},
		"null":              {"/v2/projects", `{"metadata":null}`, []string{"/metadata: must not be null"}},
		"an unknown field":  {"/v2/projects", `{"metadata":{"name":"x"},"specs":{}}`, []string{`/specs: unknown field "specs"; did you mean "spec"?`}},
		"a field elsewhere": {"/v2/projects", `{"metadata":{"name":"x"},"spec":{"zzzzzzzzzzzz":1}}`, []string{`/spec/zzzzzzzzzzzz: unknown field "zzzzzzzzzzzz"; known are domains, names, namespace`}},
		"the wrong case":    {"/v2/projects", `{"metadata":{"Name":"x"}}`, []string{`/metadata/Name: unknown field "Name"; did you mean "name"?`}},
		"too many items":    {intentsPath, `{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["w.example"` + strings.Repeat(`,"w.example"`, 10_000) + `]}}`, []string{"/spec/hostnames: must have at most 10000 items"}},
		"too many members":  {recordsPath, record(`"n0":1` + members(1000)), []string{"/spec/external-dns-parameters: must have at most 1000 members"}},
		"a long text":       {"/v2/cluster-providers/edge/clusters", `{"metadata":{"name":"x"},"spec":{"directory":"` + strings.Repeat("d", 1025) + `"}}`, []string{"/spec/directory: must have at most 1024 characters"}},
		"escaped pointers":  {"/v2/projects", `{"metadata":{"name":"x","a/b~c":1}}`, []string{"/metadata/a~1b~0c: unknown field"}},
		"everything at once": {intentsPath, `{"metadata":{"name":"x","nme":1},"spec":{"app":1,"hostnames":[],"ttl":-1,"scope":"all","recordTypes":["TXT"]}}`, []string{
			`/metadata/nme: unknown field "nme"; did you mean "name"?`,
			"/spec/app: must be 1 to 63 letters, digits, - _ or ., with a letter or digit at both ends, not a number",
			"/spec/hostnames: must have at least 1 items",
			"/spec/ttl: must be whole seconds from 1 to 2147483647 (left out: the provider's default)",
			`/spec/scope: must be one of "public", "cluster"`,
			`/spec/recordTypes/0: must be one of "A", "AAAA", "CNAME"`,
			"/spec/serviceName: is missing; give text",
		}},
		"no JSON":         {"/v2/projects", "{\n  nonsense", []string{": is not valid JSON, at line 2, column "}},
		"half of it":      {"/v2/projects", `{"metadata":`, []string{": is JSON that ends too early"}},
		"two of them":     {"/v2/projects", `{"metadata":{"name":"x"}} {}`, []string{": goes on after its JSON value"}},
		"nothing":         {"/v2/projects", "  ", []string{": is empty; send a JSON object"}},
		"a list":          {"/v2/projects", "[]", []string{": must be a JSON object"}},
		"no UTF-8":        {"/v2/projects", "{\"metadata\":{\"name\":\"\xff\"}}", []string{": is not UTF-8"}},
		"a key twice":     {"/v2/projects", `{"metadata":{"name":"x","name":"y"}}`, []string{"/metadata/name: is given more than once"}},
		"nested too deep": {"/v2/projects", strings.Repeat(`{"a":`, 1000), []string{"/a/a/a: is nested too deep; at most 100 levels are read"}},
		"nested lists":    {"/v2/projects", strings.Repeat("[", 500_000), []string{"is nested too deep"}},
		"a huge number":   {intentsPath, `{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["a.lab.example"],"ttl":1e999}}`, []string{"/spec/ttl: must be whole seconds"}},
		"half a second":   {intentsPath, `{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["a.lab.example"],"ttl":0.5}}`, []string{"/spec/ttl: must be whole seconds from 1 to 2147483647"}},
		"no seconds":      {intentsPath, `{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["a.lab.example"],"ttl":0}}`, []string{"/spec/ttl: must be whole seconds from 1 to 2147483647 (left out: the provider's default)"}},
	}
}

func TestBadInputIsRefusedByNameAndLeavesNoTrace(t *testing.T) {
	w := newWorld(t).fill("")
	for name, b := range badInputs() {
		t.Run(name, func(t *testing.T) {
			before := w.kv.Revision()
			problem := w.send(http.MethodPost, b.path, b.body).want(http.StatusBadRequest).problem()
			for _, want := range b.want {
				require.Contains(t, problem, want)
			}
			require.Equal(t, before, w.kv.Revision(), "it left a trace")
			require.Less(t, len(problem), 40_000)
		})
	}
}

func TestAPutOfBadInputLeavesNoTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	before := w.kv.Revision()
	problem := w.send(http.MethodPut, "/v2/projects/shop/dns-update-records/lab", record(`"interval":"soon"`)).want(http.StatusBadRequest).problem()
	require.Contains(t, problem, "interval")
	require.Equal(t, before, w.kv.Revision())
}

func TestABodyOver1MiBIs413(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fits := `{"metadata":{"name":"x","description":""}}`
	fits = strings.Replace(fits, `""`, `"`+strings.Repeat("a", 1<<20-len(fits))+`"`, 1)
	require.Len(t, fits, 1<<20)
	before := w.kv.Revision()
	require.Contains(t, w.send("POST", "/v2/projects", fits+" ").want(http.StatusRequestEntityTooLarge).problem(), "1 MiB")
	w.send("PUT", "/v2/projects/x", strings.Repeat("[", 2<<20)).want(http.StatusRequestEntityTooLarge)
	require.Equal(t, before, w.kv.Revision())
	w.send("POST", "/v2/projects", fits).want(http.StatusCreated)
}

func TestOnlyJSONIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"metadata":{"name":"x"}}`
	before := w.kv.Revision()
	for _, media := range []string{"", "text/plain", "application/yaml", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/merge-patch+json", "json"} {
		w.send("POST", "/v2/projects", body, "Content-Type", media).want(http.StatusUnsupportedMediaType)
	}
	w.send("POST", "/v2/projects", body, "Content-Encoding", "gzip").want(http.StatusUnsupportedMediaType)
	require.Equal(t, before, w.kv.Revision())
	for i, media := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""} {
		w.send("POST", "/v2/projects", strings.Replace(body, "x", string(rune('a'+i)), 1), "Content-Type", media).want(http.StatusCreated)
	}
}

func TestWhatTheServerAddsIsIgnoredOnInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("POST", "/v2/projects", `{"metadata":{"name":"x","revision":"nonsense","createdAt":7,"updatedAt":null,"userdata1":"a","userData2":"b"},"status":{"any":["thing"]}}`).
		want(http.StatusCreated)
	metadata, _ := w.send("GET", "/v2/projects/x", nil).want(http.StatusOK).json()["metadata"].(map[string]any)
	require.Equal(t, "a", metadata["userData1"])
	require.Equal(t, "b", metadata["userData2"])
	require.EqualValues(t, 1, metadata["revision"])
}

func TestAWholeNumberMayBeWrittenAsAFraction(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]float64{"30.0": 30, "3e1": 30, "300E-1": 30, "30": 30, "1.0": 1} {
		w := newWorld(t).fill("DNSIntent")
		got := w.send("POST", intentsPath,
			`{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["a.lab.example"],"ttl":`+written+`}}`).want(http.StatusCreated).json()
		ttl, _ := got["spec"].(map[string]any)["ttl"].(float64)
		require.InDelta(t, want, ttl, 0, written)
	}
}

func TestManyErrorsAreToldUpToABound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"metadata":{"name":"x"}`
	for i := range 500 {
		body += `,"` + strings.Repeat("k", i+1) + `":1`
	}
	problem := w.send("POST", "/v2/projects", body+"}").want(http.StatusBadRequest).problem()
	require.Contains(t, problem, "has more errors than are told here")
	require.Equal(t, 101, strings.Count(problem, "\n"))
}

func TestAnActionTakesNoBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	group := rows()[9].item
	for _, body := range []string{"", " ", "{}", "null", "\n{}\n"} {
		w.send("POST", group+"/instantiate", body).want(http.StatusAccepted)
	}
	asked := len(w.lifecycle.asked)
	for _, body := range []string{`{"confirm":"6f1c0a52"}`, "confirm=6f1c0a52", "[]", strings.Repeat(" ", 1000) + "x", strings.Repeat("x", 2<<20)} {
		problem := w.send("POST", group+"/instantiate", body).want(http.StatusBadRequest).problem()
		require.Contains(t, problem, "this takes no body; give confirm as a query parameter")
	}
	require.Len(t, w.lifecycle.asked, asked, "nothing was begun")
	w.send("DELETE", rows()[11].item, `{"what":"ever"}`).want(http.StatusNoContent)
}

// TestAllErrorsOfABodyAreToldAtOnce: those of its shape, of what it says, and of
// what it refers to.
func TestAllErrorsOfABodyAreToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{
			recordsPath, `{"metadata":{"name":"x"},"spec":{"provider":"coredns","providr":"x","deployOn":{"clusterProvider":"edge","cluster":"none"},
				"external-dns-parameters":{"aws-zone-type":"public","polcy":"sync"},"releaseTimeout":true}}`,
			[]string{"/spec/providr", "/spec/releaseTimeout", "/spec/external-dns-parameters/aws-zone-type", "/spec/external-dns-parameters/polcy", "/spec/deployOn"},
		},
		{
			intentsPath, `{"metadata":{"name":"x"},"spec":{"app":"nope","serviceName":"web","hostnames":["a..b"],"scope":"x"}}`,
			[]string{"/spec/scope", "/spec/hostnames/0", "/spec/app"},
		},
		{
			intentsPath, `{"metadata":{"name":"x"},"spec":{"serviceName":"web","hostnames":["a..b"],"scope":"x"}}`,
			[]string{"/spec/scope", "/spec/app", "/spec/hostnames/0"},
		},
		{
			intentsPath, `{"metadata":{"name":"x"},"spec":{"app":7,"serviceName":"web","hostnames":["a..b"]}}`,
			[]string{"/spec/app", "/spec/hostnames/0"},
		},
		{
			"/v2/projects", `{"metadata":{"name":"n1"},"spec":{"namespace":"kube-x","nspace":1}}`,
			[]string{"/spec/nspace", "/spec/namespace"},
		},
		{
			groupsPath, `{"metadata":{"name":"x"},"spec":{"logicalCloud":"none","apps":[{"name":"a","namespace":"kube-a","nam":1}]}}`,
			[]string{"/spec/apps/0/nam", "/spec/apps/0/namespace", "/spec/logicalCloud"},
		},
	} {
		w := newWorld(t).fill("")
		before := w.kv.Revision()
		problem := w.send("POST", c.path, c.body).want(http.StatusBadRequest).problem()
		require.Equal(t, before, w.kv.Revision(), "it left a trace")
		for _, pointer := range c.want {
			require.Contains(t, problem, pointer+": ")
		}
	}
}
