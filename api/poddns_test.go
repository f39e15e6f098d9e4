package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/api"
)

const podDNSPath = groupsPath + "/prod/traffic-group-intents/front/pod-dns-intents"

// podDNS is a body whose spec has the app web and these fields, given in YAML as
// the seed writes them.
func podDNS(t *testing.T, fields string) string {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte("metadata: {name: web}\nspec:\n  app: web\n" + indented(fields)))
	require.NoError(t, err)
	return string(asJSON)
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// The seed's own resolver, in its words.
const seedsOwnResolver = `
dnsPolicy: Custom
dnsConfig:
  nameservers: ["1.2.3.4"]
  searches:
  - ns1.svc.cluster.local
  - my.dns.search.suffix
  options:
  - name: ndots
    value: 2
  - name: edns0
`

// The seed's other example, in its words: options is an item of a list, and the
// option's name and value are items of another.
const seedsOverride = `
dnsPolicy: ClusterFirst
dnsConfig:
- options:
  - name: ndots
  - value: 1
`

func TestTheSeedsPodDNSIsPostedAsItStands(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ fields, spec string }{
		"its own resolver": {seedsOwnResolver, `{"app":"web","dnsPolicy":"Custom","dnsConfig":{"nameservers":["1.2.3.4"],
			"searches":["ns1.svc.cluster.local","my.dns.search.suffix"],"options":[{"name":"ndots","value":"2"},{"name":"edns0"}]}}`},
		"ndots, in today's form": {"dnsPolicy: ClusterFirst\ndnsConfig:\n  options:\n  - name: ndots\n    value: 1",
			`{"app":"web","dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":"1"}]}}`},
		"search, as its text calls it": {"dnsPolicy: Default\ndnsConfig: {search: [a.example]}", `{"app":"web","dnsPolicy":"Default","dnsConfig":{"searches":["a.example"]}}`},
		"autopath":                     {"dnsPolicy: clusterFirstWithAutopath", `{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`},
		"autopath in capitals":         {"dnsPolicy: ClusterFirstWithAutopath", `{"app":"web","dnsPolicy":"ClusterFirstWithAutopath"}`},
		"numbers in any form":          {"dnsPolicy: Default\ndnsConfig: {options: [{name: timeout, value: 3e1}, {name: attempts, value: '2'}, {name: ndots, value: 2.0}]}", `{"app":"web","dnsPolicy":"Default","dnsConfig":{"options":[{"name":"timeout","value":"30"},{"name":"attempts","value":"2"},{"name":"ndots","value":"2"}]}}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).fill("PodDNSIntent")
			created := w.send("POST", strings.Replace(podDNSPath, "projects", "project", 1)+"/", podDNS(t, c.fields)).want(http.StatusCreated)
			require.Equal(t, podDNSPath+"/web", created.Header().Get("Location"))
			require.JSONEq(t, c.spec, string(mustJSON(t, created.json()["spec"])))
			sentBack := w.send("PUT", podDNSPath+"/web", w.send("GET", podDNSPath+"/web", nil).Body.String()).want(http.StatusOK)
			require.Equal(t, `"1"`, sentBack.Header().Get("ETag"), "what GET answers, sent back, changes nothing")
			require.JSONEq(t, created.Body.String(), sentBack.Body.String())
		})
	}
}

func TestAWrongPodDNSIntentIs400AndShowsTheRightForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	const at = "/spec/dnsConfig"
	for fields, want := range map[string]string{
		seedsOverride: at + `: must be an object as in {"options":[{"name":"ndots","value":"1"}]}, not a list`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {options: [{name: ndots}, {value: 1}]}":  at + `/options/1/name: is missing; give the name of an option, in one object with its value: {"name":"ndots","value":"1"}`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {options: {ndots: 1}}":                   at + `/options: must be a list as in [{"name":"ndots","value":"1"},{"name":"edns0"}], not an object`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {options: ['ndots:1']}":                  at + `/options/0: must be an object as in {"name":"ndots","value":"1"}, not text`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {options: [{name: edns0, value: true}]}": at + `/options/0/value: must be text or a whole number`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {options: [{name: ndots, value: 1.5}]}":  at + `/options/0/value: must be text or a whole number`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {search: a.example}":                     at + `/search: must be a list as in ["a.example","b.example"], not text`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {searches: a b}":                         at + `/searches: must be a list as in ["a.example","b.example"], not text`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {searches: [a b]}":                       at + `/searches/0: "a b" is not a search domain; give one in lower case such as a.example, and several as a list: ["a","b"]`,
		"dnsPolicy: ClusterFirst\ndnsConfig: {nameserver: []}":                        at + `/nameserver: unknown field "nameserver"; did you mean "nameservers"?`,
		"dnsPolicy: null": "/spec/dnsPolicy: must not be null",
		"dnsConfig: {}":   "/spec/dnsPolicy: is missing; give Default, ClusterFirst, ClusterFirstWithHostNet, None, Custom or clusterFirstWithAutopath",
		"dnsPolicy: ClusterFrist\ndnsConfig: {nameservers: [a], searches: [B], options: [{name: ndots}]}": "/spec/dnsPolicy: \"ClusterFrist\" is not a DNS policy; the nearest known one is ClusterFirst\n" +
			at + "/nameservers/0: \"a\" is not an IP address; give one such as 192.0.2.53 or 2001:db8::53\n" +
			at + "/searches/0: \"B\" is not a search domain; give one in lower case such as a.example\n" +
			at + "/options/0/value: is missing; give a number from 0 to 15",
	} {
		for _, send := range [][2]string{{"POST", podDNSPath}, {"PUT", podDNSPath + "/web"}} {
			require.Contains(t, w.send(send[0], send[1], podDNS(t, fields)).want(http.StatusBadRequest).problem(), want)
		}
	}
	require.Empty(t, w.send("GET", podDNSPath, nil).want(http.StatusOK).json()["items"], "nothing is half-done")
}

func TestPodDNSOfAnAppThatTheGroupDoesNotHaveIs400(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	problem := w.send("POST", podDNSPath, `{"metadata":{"name":"db"},"spec":{"app":"db","dnsPolicy":"Default"}}`).want(http.StatusBadRequest).problem()
	require.Contains(t, problem, `/spec/app: "db" is not an app of projects/shop/composite-apps/store/v1/deployment-intent-groups/prod, whose apps are: web, api`)
}

func TestASecondPodDNSIntentForOneAppIs409AndNamesTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSCRIntent")
	for _, send := range [][2]string{{"POST", podDNSPath}, {"PUT", podDNSPath + "/other"}} {
		problem := w.send(send[0], send[1], `{"metadata":{"name":"other"},"spec":{"app":"web","dnsPolicy":"Default"}}`).want(http.StatusConflict).problem()
		require.Contains(t, problem, strings.TrimPrefix(podDNSPath, "/v2/")+`/other names app "web", whose pods already have their DNS from `+strings.TrimPrefix(podDNSPath, "/v2/")+"/web")
	}
}

// TestPreconditionsAndParentsOfPodDNSIntents: as those of all documents.
func TestPreconditionsAndParentsOfPodDNSIntents(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSCRIntent")
	changed := podDNS(t, "dnsPolicy: Default")
	w.send("PUT", podDNSPath+"/web", changed, "If-Match", `"7"`).want(http.StatusPreconditionFailed)
	w.send("PUT", podDNSPath+"/web", changed, "If-None-Match", "*").want(http.StatusPreconditionFailed)
	w.send("PUT", podDNSPath+"/web", changed, "If-Match", `"1"`).want(http.StatusOK)
	require.Contains(t, w.send("DELETE", strings.TrimSuffix(podDNSPath, "/pod-dns-intents"), nil).want(http.StatusConflict).problem(), podDNSPath[len("/v2/"):]+"/web")
	w.send("DELETE", podDNSPath+"/web", nil, "If-Match", `"1"`).want(http.StatusPreconditionFailed)
	w.send("DELETE", podDNSPath+"/web", nil, "If-Match", `"2"`).want(http.StatusNoContent)
}

// TestAnEditorWritesPodDNSIntentsAndAViewerReadsThem of its project alone.
func TestAnEditorWritesPodDNSIntentsAndAViewerReadsThem(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.token = "a"
	w.fill("PodDNSIntent")
	body := podDNS(t, seedsOwnResolver)
	w.token = "v"
	w.send("POST", podDNSPath, body).want(http.StatusForbidden)
	w.token = "e"
	w.send("POST", podDNSPath, body).want(http.StatusCreated)
	w.send("PUT", podDNSPath+"/web", body).want(http.StatusOK)
	w.token = "v"
	w.send("GET", podDNSPath+"/web", nil).want(http.StatusOK)
	w.send("DELETE", podDNSPath+"/web", nil).want(http.StatusForbidden)
}

func TestAPodDNSIntentOfAnAppWithoutManifestsIsStoredWithAWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	warned := w.send("POST", podDNSPath, podDNS(t, "dnsPolicy: Default")).want(http.StatusCreated)
	require.Contains(t, warned.Body.String(), `"warnings":[{"parameter":"app","message":"web has no manifests`)
	require.Contains(t, w.send("GET", podDNSPath, nil).Body.String(), "web has no manifests", "in lists, too")
	group := w.send("GET", groupsPath+"/prod", nil).Body.String()
	given := strings.Replace(group, `{"name":"web",`, `{"name":"web","manifests":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}],`, 1)
	require.NotEqual(t, group, given)
	w.send("PUT", groupsPath+"/prod", given).want(http.StatusOK)
	require.Contains(t, w.send("GET", podDNSPath+"/web", nil).Body.String(), `"status":{"warnings":[]}`, "it follows the group")
}

// TestAPodOrABarePolicyIsToldWherePodDNSGoes: people send what they have.
func TestAPodOrABarePolicyIsToldWherePodDNSGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	const below = `dnsPolicy and dnsConfig go below spec, beside app: {`
	for _, body := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[],"dnsPolicy":"ClusterFirst"}}`,
		`{"dnsPolicy":"None","dnsConfig":{"nameservers":["1.2.3.4"]}}`,
	} {
		for _, path := range []string{podDNSPath, previewPath} {
			require.Contains(t, w.send("POST", path, body).want(http.StatusBadRequest).problem(), below, path)
		}
	}
}
