package canary

import (
	"encoding/json"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
)

// read asks every route of the API that can be read, of each document that has
// it.
func (w *world) read(all []document) {
	w.Helper()
	paths := []string{"/healthz", "/readyz", "/version", "/metrics", "/v2/openapi.yaml", "/v2/names", "/v2/fleet", "/v2/events",
		"/v2/caller", "/v2/safety-rules", "/v2/failovers", "/v2/failovers/" + w.failover(),
		"/v2/troubles", "/v2/projects/shop/deployment-intent-groups", "/v2/cluster-providers/edge/clusters/hub/services"}
	for _, d := range all {
		paths = append(paths, d.collection, d.item())
		if strings.HasSuffix(d.collection, "/names") {
			host := "/v2/names/" + path.Base(d.item())
			paths = append(paths, host, host+"/history")
		}
		for _, word := range []string{"events", "status", "users", "preflight"} {
			paths = append(paths, d.item()+"/"+word)
		}
		if strings.HasSuffix(d.collection, "/dns-update-records") {
			paths = append(paths, d.item()+"/unmanaged")
		}
	}
	described, err := openapi.Load()
	require.NoError(w, err)
	parameter := regexp.MustCompile(`\\\{[^}]*\\\}`)
	for route, item := range described.Paths.Map() {
		if item.Get == nil {
			continue
		}
		fits, read := regexp.MustCompile("^"+parameter.ReplaceAllString(regexp.QuoteMeta(route), "[^/]+")+"$"), 0
		for _, path := range paths {
			if !fits.MatchString(path) {
				continue
			}
			read++
			if strings.HasSuffix(path, "/unmanaged") { // Signpost may not connect to these servers
				w.refused(request{method: http.MethodGet, path: path})
			} else {
				w.want(http.StatusOK, request{method: http.MethodGet, path: path})
			}
		}
		require.Positive(w, read, "no document has %s", route)
	}
	w.want(http.StatusOK, request{method: http.MethodPost, path: "/v2/projects/shop/logical-clouds/eu/dns-cr-intents/dns/trace", body: `{"name": "www.foo.example"}`})
	w.want(http.StatusOK, request{method: http.MethodGet, path: prod + "/status", token: "Bearer " + w.jwt})
}

// failover drains the cluster away and undrains it again. It answers the id of the first
// record.
func (w *world) failover() string {
	w.Helper()
	w.want(http.StatusAccepted, request{method: http.MethodPost, path: "/v2/failovers?force=true", body: `{"drain": {"clusters": ["edge/away"]}, "reason": "the search for secrets"}`})
	id := regexp.MustCompile(`"id": ?"([^"]+)"`).FindSubmatch(w.out[len(w.out)-1].text)
	require.NotNil(w, id, "the record has an id")
	w.want(http.StatusAccepted, request{method: http.MethodPost, path: "/v2/failovers/" + string(id[1]) + "/revert"})
	return string(id[1])
}

// profile reads all profiles.
func (w *world) profile() {
	w.Helper()
	for _, path := range []string{"", "goroutine?debug=2", "heap?debug=1", "allocs?debug=1", "block?debug=1", "mutex?debug=1", "threadcreate?debug=1", "symbol", "profile?seconds=1", "trace?seconds=1"} {
		require.Equal(w, http.StatusOK, w.send("http://"+w.listener("pprof"), request{method: http.MethodGet, path: "/debug/pprof/" + path}), path)
	}
}

// listener is where one of the server's is.
func (w *world) listener(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "server", "ready.json"))
	require.NoError(w, err)
	where := map[string]string{}
	require.NoError(w, json.Unmarshal(text, &where))
	return where[name]
}

// command runs commands of the client, which succeed, and some which do not.
func (w *world) command(all []document) {
	w.Helper()
	for _, args := range []string{
		"get projects/shop/dns-update-records", "get projects/shop/dns-update-records/tsig -o yaml", "get projects/shop/dns-update-records/tsig/users -o json",
		"get cluster-providers/edge/clusters -o wide", "get projects/shop/events", "plan shop/store/v1/prod", "status shop/store/v1/prod -o json", "version", "ready",
	} {
		text, err := w.run(w.client(), strings.Fields(args)...)
		require.NoError(w, err, "signpost %s: %s", args, text)
	}
	var records []string
	for _, d := range all {
		if d.collection == "/v2/projects/shop/dns-update-records" {
			records = append(records, `{"resource": "`+strings.TrimPrefix(d.collection, "/v2/")+`", `+d.body()[1:])
		}
	}
	text, err := w.run(w.client(), "apply", "-f", w.file("records.yaml", strings.Join(records, "\n---\n")))
	require.NoError(w, err, text)
	const head = "resource: projects/shop/dns-update-records\nmetadata: {name: x}\nspec: "
	for name, wrong := range map[string]string{
		"alias": "*%s", "type": "{provider: aws, credentials: [{environment: A, value: [%s]}]}", "key": "{provider: aws, credentials: [{environment: A, valeu: %s}]}",
		"quotes": "\"%s", "tag": "!!int %s", "text": "%s",
	} {
		file := w.file("wrong-"+name+".yaml", head+strings.ReplaceAll(wrong, "%s", w.word("the secret of a wrong file: "+name)))
		text, err := w.run(w.client(), "apply", "-f", file)
		require.Error(w, err, text)
		require.NoError(w, os.Remove(file))
	}
	require.NoError(w, os.Remove(filepath.Join(w.dir, "records.yaml")))
	for _, env := range [][]string{
		{w.client()[0], "SIGNPOST_TOKEN=" + w.word("a wrong token of the client")},
		{"SIGNPOST_SERVER=http://me:" + w.word("a password of a server") + "@127.0.0.1:1"}, {"SIGNPOST_SERVER=me:" + w.word("a password of no server") + "@127.0.0.1:1"},
		{"SIGNPOST_SERVER=http://127.0.0.1:1/?token=" + w.word("a token in a server's URL")}, {"SIGNPOST_SERVER=http://127.0.0.1:1", "SIGNPOST_TOKEN=" + w.text("a token that no header takes") + "\n"},
	} {
		text, err := w.run(env, "get", "cluster-providers")
		require.Error(w, err, text)
	}
}
