package emco_test

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/emco"
)

// filled is a world with the documents of testdata; the clusters cannot be
// reached.
func filled(t *testing.T) *emco.World {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("kubeconfig of a cluster"), 0o600))
	apply(t, w, "sites.yaml", "KUBECONFIG-PARIS", kubeconfig, "KUBECONFIG-BERLIN", kubeconfig)
	apply(t, w, "shop.yaml", "MANIFESTS-WEB", filepath.Join("testdata", "web.yaml"))
	return w
}

// apply applies a file of testdata as emcoctl does, with replacements.
func apply(t *testing.T, w *emco.World, name string, replacements ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	stream := strings.NewReplacer(replacements...).Replace(string(text))
	require.NoError(t, w.Emcoctl("").Apply(t.Context(), stream))
}

// get reads as a controller does; header are names and values.
func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	return send(t, http.MethodGet, url, "", header...)
}

func send(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(text))
}

func TestDocumentsAreAnsweredAsEMCOKeepsThem(t *testing.T) {
	w := filled(t)
	const (
		cloud = "/v2/projects/shop/logical-clouds/eu"
		app   = "/v2/projects/shop/composite-apps/store/v1"
		dig   = app + "/deployment-intent-groups/prod"
		none  = `"description":"","userData1":"","userData2":""`
	)
	for _, c := range []struct{ path, want string }{
		{w.Orchestrator.URL + "/v2/projects", `[{"metadata":{"name":"shop","description":"the shop","userData1":"","userData2":""}}]`},
		{w.Orchestrator.URL + "/v2/projects/shop/composite-apps", `[{"metadata":{"name":"store",` + none + `},"spec":{"compositeAppVersion":"v1"}}]`},
		{w.Orchestrator.URL + app, `{"metadata":{"name":"store",` + none + `},"spec":{"compositeAppVersion":"v1"}}`},
		{w.Orchestrator.URL + app + "/apps", `[{"metadata":{"name":"web",` + none + `}}]`},
		{w.Orchestrator.URL + dig, `{"metadata":{"name":"prod",` + none + `},"spec":{"compositeProfile":"plain","version":"r1","overrideValues":null,"logicalCloud":"eu"}}`},
		{w.Orchestrator.URL + dig + "/intents", `{"intent":[{"dns":"front","genericPlacementIntent":"everywhere"}]}`},
		{w.Orchestrator.URL + dig + "/intents/all", `{"metadata":{"name":"all",` + none + `},"spec":{"intent":{"dns":"front","genericPlacementIntent":"everywhere"}}}`},
		{w.Orchestrator.URL + dig + "/generic-placement-intents/everywhere/app-intents", `[{"metadata":{"name":"web",` + none + `},"spec":{"app":"web","intent":{"allOf":[{"clusterProvider":"edge","cluster":"paris"}]}}}]`},
		{w.Orchestrator.URL + "/v2/controllers", `null`},
		{w.DCM.URL + cloud, `{"metadata":{"name":"eu",` + none + `},"spec":{"namespace":"shop","labels":null,"level":"1","user":{"userName":"shopkeeper","type":"certificate"}}}`},
		{w.DCM.URL + cloud + "/cluster-references/paris", `{"metadata":{"name":"paris",` + none + `},"spec":{"clusterProvider":"edge","cluster":"paris","loadBalancerIP":"","certificate":""}}`},
		{w.DCM.URL + cloud + "/kv-pairs", `[{"metadata":{"name":"dns-update-record-list",` + none + `},"spec":{"kv":[{"key1":"lab"}]}}]`},
		{w.CLM.URL + "/v2/cluster-providers", `[{"metadata":{"name":"edge",` + none + `}}]`},
		{w.CLM.URL + "/v2/cluster-providers/edge/clusters?label=west", `["paris"]`},
		{w.CLM.URL + "/v2/cluster-providers/edge/clusters/paris/labels", `[{"clusterLabel":"west"}]`},
		{w.CLM.URL + "/v2/cluster-providers/edge/clusters/berlin/kv-pairs", `[]`},
		{w.CLM.URL + "/v2/cluster-providers/edge/clusters/paris/kv-pairs/dns-update-record-list", `{"metadata":{"name":"dns-update-record-list",` + none + `},"spec":{"kv":[{"key1":"lab"}]}}`},
	} {
		t.Run(c.path[len(w.CLM.URL):], func(t *testing.T) {
			status, body := get(t, c.path)
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, c.want, body)
		})
	}
	_, withLabels := get(t, w.CLM.URL+"/v2/cluster-providers/edge/clusters?withLabels=true")
	require.Contains(t, withLabels, `"labels":[{"clusterLabel":"west"}]`)
	require.Contains(t, w.CLM.Requests(), "GET /v2/cluster-providers/edge/clusters?label=west")
}

func TestRefusalsAreEMCOs(t *testing.T) {
	w := filled(t)
	require.NoError(t, w.Emcoctl("").Apply(t.Context(),
		"resourceContext: {anchor: projects/shop/logical-clouds}\nmetadata: {name: empty}\nspec: {namespace: empty}\n"))
	const json = "application/json"
	for _, c := range []struct {
		name, method, url, body string
		status                  int
		want                    string
	}{
		{"no project", "GET", w.Orchestrator.URL + "/v2/projects/other", "", 404, "Project not found"},
		{"no logical cloud", "GET", w.DCM.URL + "/v2/projects/shop/logical-clouds/us", "", 404, "Logical Cloud not found"},
		{"clusters of no logical cloud", "GET", w.DCM.URL + "/v2/projects/shop/logical-clouds/us/cluster-references", "", 404, "Logical Cloud not found"},
		{"a logical cloud without clusters", "GET", w.DCM.URL + "/v2/projects/shop/logical-clouds/empty/cluster-references", "", 400, "No Cluster References associated"},
		{"no path", "GET", w.DCM.URL + "/v2/projects/shop/dns", "", 404, "404 page not found"},
		{"twice", "POST", w.Orchestrator.URL + "/v2/projects", `{"metadata":{"name":"shop"}}`, 409, "Project already exists"},
		{"no parent", "POST", w.DCM.URL + "/v2/projects/other/logical-clouds", `{"metadata":{"name":"eu"}}`, 409, "Parent resource not found"},
		{"no body", "POST", w.Orchestrator.URL + "/v2/projects", "", 400, "Empty body"},
		{"no JSON", "POST", w.Orchestrator.URL + "/v2/projects", "{", 422, "unexpected end"},
		{"no name", "POST", w.Orchestrator.URL + "/v2/projects", `{"spec":{}}`, 400, "Invalid Input"},
		{"no label", "POST", w.CLM.URL + "/v2/cluster-providers/edge/clusters/paris/labels", `{}`, 400, "Missing label"},
		{"no file", "POST", w.CLM.URL + "/v2/cluster-providers/edge/clusters", `{"metadata":{"name":"rome"}}`, 422, "Unable to process file"},
		{"another name", "PUT", w.Orchestrator.URL + "/v2/projects/shop", `{"metadata":{"name":"mall"}}`, 400, "Mismatched name"},
		{"no PUT of KV pairs", "PUT", w.DCM.URL + "/v2/projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list", `{"metadata":{"name":"dns-update-record-list"}}`, 405, ""},
		{"no PUT of cluster references", "PUT", w.DCM.URL + "/v2/projects/shop/logical-clouds/eu/cluster-references/paris", `{"metadata":{"name":"paris"}}`, 405, ""},
		{"no PUT of user permissions", "PUT", w.DCM.URL + "/v2/projects/shop/logical-clouds/eu/user-permissions/all", `{"metadata":{"name":"all"}}`, 405, ""},
		{"no parent to put below", "PUT", w.Orchestrator.URL + "/v2/projects/other/composite-apps/store/v1", `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`, 409, "Parent resource not found"},
		{"status of no group", "GET", w.Orchestrator.URL + "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/other/status", "", 400, "DeploymentIntentGroup not found"},
		{"children", "DELETE", w.Orchestrator.URL + "/v2/projects/shop", "", 409, "child references"},
		{"nothing to delete", "DELETE", w.Orchestrator.URL + "/v2/projects/other", "", 404, "not found"},
		{"a port that its schema does not know", "POST", w.Orchestrator.URL + "/v2/controllers", `{"metadata":{"name":"dns"},"spec":{"host":"h","port":50001,"type":"action","priority":1}}`, 400, "50000"},
		{"a priority that its schema does not know", "POST", w.Orchestrator.URL + "/v2/controllers", `{"metadata":{"name":"dns"},"spec":{"host":"h","port":1,"type":"action","priority":101}}`, 400, "100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := send(t, c.method, c.url, c.body, "Content-Type", json)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.want)
		})
	}
}

func TestAControllerIsRegisteredOnce(t *testing.T) {
	w := filled(t)
	const registration = `{"metadata":{"name":"dns"},"spec":{"host":"127.0.0.1","port":9048,"type":"action","priority":1}}`
	status, body := send(t, http.MethodPost, w.Orchestrator.URL+"/v2/controllers", registration)
	require.Equal(t, http.StatusCreated, status)
	require.JSONEq(t, `{"metadata":{"name":"dns","description":"","userData1":"","userData2":""},"spec":{"host":"127.0.0.1","port":9048,"type":"action","priority":1}}`, body)
	status, body = send(t, http.MethodPost, w.Orchestrator.URL+"/v2/controllers", registration)
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "Controller already exists", body)
	status, _ = send(t, http.MethodPut, w.Orchestrator.URL+"/v2/controllers/dns", registration)
	require.Equal(t, http.StatusCreated, status)
	status, _ = send(t, http.MethodDelete, w.Orchestrator.URL+"/v2/controllers/dns", "")
	require.Equal(t, http.StatusNoContent, status)
}

// A cluster has a file, and a client says which part it wants.
func TestAKubeconfigIsReadByAccept(t *testing.T) {
	w := filled(t)
	url := w.CLM.URL + "/v2/cluster-providers/edge/clusters/paris"
	status, _ := get(t, url)
	require.Equal(t, http.StatusNotAcceptable, status)
	status, _ = get(t, url, "Accept", "*/*")
	require.Equal(t, http.StatusMultipleChoices, status)
	_, body := get(t, url, "Accept", "application/json")
	require.Contains(t, body, `"gitOpsType":""`)
	_, body = get(t, url, "Accept", "application/octet-stream")
	require.Equal(t, "kubeconfig of a cluster", body)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Accept", "multipart/form-data")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	require.NoError(t, err)
	form, err := multipart.NewReader(response.Body, parameters["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	require.Contains(t, form.Value["metadata"][0], `"name":"paris"`)
	require.Len(t, form.File["file"], 1)
}

func TestAServiceFailsAsItIsTold(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	url := w.DCM.URL + "/v2/projects/shop/logical-clouds"
	w.DCM.Fail(http.StatusInternalServerError)
	status, body := get(t, url)
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, body, "internal error")
	w.DCM.Fail(0)

	w.DCM.Slow(time.Hour)
	client := http.Client{Timeout: 100 * time.Millisecond}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := client.Do(request)
	if err == nil {
		response.Body.Close()
	}
	require.True(t, os.IsTimeout(err), err)
	w.DCM.Slow(0)

	w.DCM.Down()
	response, err = client.Do(request)
	if err == nil {
		response.Body.Close()
	}
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, w.DCM.Up())
	status, _ = get(t, url)
	require.Equal(t, http.StatusOK, status)
}

func TestEmcoctlKnowsItsAnchors(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	document := func(anchor string) string {
		return "version: emco/v2\nresourceContext: {anchor: " + anchor + "}\nmetadata: {name: x}\n"
	}
	ctl := w.Emcoctl(w.CLM.URL)
	require.ErrorContains(t, ctl.Apply(t.Context(), document("project/shop/dns-update-records")), "no service")
	require.ErrorContains(t, ctl.Apply(t.Context(), document("projects/shop/logical-clouds")), "Parent resource not found")
	require.ErrorContains(t, ctl.Apply(t.Context(), "resourceContext: {anchor: projects}\nMetadata: {name: x}\n"), "Invalid Input")
	require.ErrorContains(t, ctl.Apply(t.Context(), document("projects")+"file: /nowhere\n"), "no such file")
	require.NoError(t, ctl.Apply(t.Context(), "# nothing\n"))
	group := "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents"
	require.ErrorContains(t, ctl.Apply(t.Context(), document(group)), "404")
	require.Equal(t, []string{"POST /v2/" + group}, w.CLM.Requests())
}

func TestClustersAndAppsAreSetWithoutFiles(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	w.SetCluster("edge", "rome", []byte("its kubeconfig"))
	w.SetApp(emco.DIG{Project: "shop", CompositeApp: "store", Version: "v1"}, "web", "kind: Service")
	for url, want := range map[string]string{
		w.CLM.URL + "/v2/cluster-providers/edge/clusters/rome":                    "its kubeconfig",
		w.Orchestrator.URL + "/v2/projects/shop/composite-apps/store/v1/apps/web": "kind: Service",
	} {
		status, body := get(t, url, "Accept", "application/octet-stream")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, want, body)
	}
	_, providers := get(t, w.CLM.URL+"/v2/cluster-providers")
	require.Contains(t, providers, `"name":"edge"`)
}
