package canary

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// The two groups: one that gets where it should, and one whose cluster is away.
const (
	groups = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups"
	prod   = groups + "/prod"
	far    = groups + "/far"
)

// document is one to post: the name is its own.
type document struct{ collection, name, spec string }

// documents are all that are posted, each before those that need it. The first
// group uses all records, and the second one that has no secret; the other way
// round where the first one's cluster may have none.
func (w *world) documents(at hub) []document {
	w.Helper()
	const clouds, apps = "/v2/projects/shop/logical-clouds", "/v2/projects/shop/composite-apps"
	away, err := w.kubeconfig()
	require.NoError(w, err)
	all := []document{
		{"/v2/cluster-providers", "edge", `{}`},
		{"/v2/cluster-providers/edge/clusters", "hub", at.spec()},
		{"/v2/cluster-providers/edge/clusters", "away", `{"kubeconfig": "` + base64.StdEncoding.EncodeToString(away) + `"}`},
		{"/v2/cluster-providers/edge/clusters/hub/kv-pairs", "notes", `{"kv": [{"region": "eu"}]}`},
		{"/v2/projects", "shop", `{}`},
	}
	var hosts, list []string
	for n, one := range w.records() {
		all = append(all, document{"/v2/projects/shop/dns-update-records", one.name, one.spec})
		hosts = append(hosts, `"prod.`+one.name+`.example"`)
		for _, used := range one.secrets {
			w.used[used] = one.name
		}
		list = append(list, fmt.Sprintf(`{"key%d": %q}`, n+1, one.name))
	}
	lists, home := map[string]string{"eu": strings.Join(list, ", "), "far": `{"key1": "open"}`}, "away"
	if !at.secrets() {
		lists["eu"], lists["far"], home = lists["far"], lists["eu"], "hub"
	}
	all = append(all,
		document{"/v2/projects/shop/dns-update-records", "open", `{"provider": "coredns", "external-dns-parameters": {"domain-filter": ["example"]},
		"environment": {"ETCD_URLS": "http://192.0.2.53:2379"}, "deployOn": {"clusterProvider": "edge", "cluster": "` + home + `"}, "credentials": [{"environment": "ETCD_PASSWORD", "secretRef": {"name": "etcd", "key": "password"}}]}`},
		document{"/v2/projects/shop/names", "direct.example", `{"addresses": ["203.0.113.7"], "provider": "open"}`},
		document{"/v2/projects/shop/sets", "shop", `{"documents": ["projects/shop/names/direct.example"]}`},
	)
	for cloud, cluster := range map[string]string{"eu": "hub", "far": "away"} {
		all = append(all,
			document{clouds, cloud, `{"namespace": "shop-` + cloud + `", "controllerCluster": {"clusterProvider": "edge", "cluster": "` + cluster + `"}}`},
			document{clouds + "/" + cloud + "/cluster-references", cluster, `{"clusterProvider": "edge", "cluster": "` + cluster + `"}`},
			document{clouds + "/" + cloud + "/kv-pairs", "dns-update-record-list", `{"kv": [` + lists[cloud] + `]}`})
	}
	all = append(all,
		document{clouds + "/eu/dns-cr-intents", "dns", `{"pluginConfig": {"forwardPlugins": [{"domain": "foo.example", "nameServers": ["192.0.2.54"]}]}}`},
		document{apps, "store", `{"compositeAppVersion": "v1"}`})
	w.hosts = strings.Join(hosts, ", ")
	intents := map[string]string{"prod": groups + "/prod/traffic-group-intents/front/dns-intents", "far": groups + "/far/dns-intents"}
	for group, cloud := range map[string]string{"prod": "eu", "far": "far"} {
		all = append(all,
			document{groups, group, `{"logicalCloud": "` + cloud + `", "apps": [{"name": "web", "manifests": [{"apiVersion": "v1", "kind": "Service",
				"metadata": {"name": "web"}, "spec": {"externalIPs": ["203.0.113.7"], "ports": [{"port": 80}]}}]}]}`},
			document{groups + "/" + group + "/traffic-group-intents", "front", `{}`},
			document{intents[group], "www", `{"app": "web", "serviceName": "web", "hostnames": [` + strings.ReplaceAll(w.hosts, "prod.", group+".") + `]}`},
			document{groups + "/" + group + "/traffic-group-intents/front/pod-dns-intents", "web", `{"app": "web", "dnsPolicy": "ClusterFirst"}`})
	}
	return all
}

// item is a document's path.
func (d document) item() string {
	if strings.HasSuffix(d.collection, "/composite-apps") {
		return d.collection + "/" + d.name + "/v1"
	}
	return d.collection + "/" + d.name
}

func (d document) body() string {
	return `{"metadata": {"name": "` + d.name + `"}, "spec": ` + d.spec + `}`
}

// write posts all documents, and writes each once more.
func (w *world) write(all []document) {
	w.Helper()
	for _, d := range all {
		w.want(http.StatusCreated, request{method: http.MethodPost, path: d.collection, body: d.body()})
	}
	for _, d := range all {
		w.want(http.StatusOK, request{method: http.MethodPut, path: d.item(), body: d.body()})
	}
	bodies, err := w.seeds()
	require.NoError(w, err)
	w.want(http.StatusCreated, request{method: http.MethodPost, path: "/v2/projects", body: document{name: "example", spec: `{}`}.body()})
	for _, body := range bodies {
		w.want(http.StatusCreated, request{method: http.MethodPost, path: "/v2/projects/example/dns-update-records", body: body, token: "Bearer " + w.jwt})
		var record struct{ Metadata struct{ Name string } }
		require.NoError(w, json.Unmarshal([]byte(body), &record))
		w.want(http.StatusNoContent, request{method: http.MethodDelete, path: "/v2/projects/example/dns-update-records/" + record.Metadata.Name})
	}
}

// deploy has both groups deployed, and the first one updated and rolled back,
// with plans before. first is called when it is there.
func (w *world) deploy(first func()) {
	w.Helper()
	for _, group := range []string{prod, far} {
		w.want(http.StatusOK, request{method: http.MethodPost, path: group + "/plan"})
		w.want(http.StatusAccepted, request{method: http.MethodPost, path: group + "/instantiate"})
	}
	w.instantiated()
	first()
	w.want(http.StatusOK, request{method: http.MethodPut, path: prod + "/traffic-group-intents/front/dns-intents/www",
		body: document{name: "www", spec: `{"app": "web", "serviceName": "web", "ttl": 5, "hostnames": [` + w.hosts + `]}`}.body()})
	w.want(http.StatusOK, request{method: http.MethodPost, path: prod + "/plan?for=update"})
	w.want(http.StatusAccepted, request{method: http.MethodPost, path: prod + "/update"})
	w.instantiated()
	w.want(http.StatusAccepted, request{method: http.MethodPost, path: prod + "/rollback"})
	w.instantiated()
	const record, nextKey = "/v2/projects/shop/dns-update-records/pdns", "the next key of PowerDNS"
	w.used[nextKey] = "pdns"
	w.want(http.StatusOK, request{method: http.MethodPut, path: record, body: document{name: "pdns", spec: `{"provider": "pdns", "external-dns-parameters":
		{"domain-filter": ["pdns.example"], "interval": "30s", "pdns-server": "http://192.0.2.53:8081", "pdns-api-key": ` + quoted(w.text(nextKey)) + `}}`}.body()})
	w.want(http.StatusOK, request{method: http.MethodPost, path: record + "/plan"})
	w.want(http.StatusAccepted, request{method: http.MethodPost, path: record + "/update"})
	w.instantiated()
}

// instantiated waits for the first group to be all there.
func (w *world) instantiated() {
	w.Helper()
	wait.For(w.T, patience, "the group to be instantiated", func() error {
		w.want(http.StatusOK, request{method: http.MethodGet, path: prod + "/status"})
		last := w.out[len(w.out)-1].text
		if !strings.Contains(string(last), `"state":"Instantiated"`) {
			return fmt.Errorf("it is not: %s", last)
		}
		return nil
	})
}
