package app

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// emcoServer is an installation of EMCO, whose services are one server.
func emcoServer(t *testing.T) *httptest.Server {
	const kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\n" +
		"clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: t0p-s3cr3t}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"projects":                              `[{"metadata":{"name":"shop"}},{"metadata":{"name":"Lab"}}]`,
		"projects/shop":                         `{"metadata":{"name":"shop","description":"","userData1":"","userData2":""}}`,
		"projects/Lab":                          `{"metadata":{"name":"Lab","description":"","userData1":"","userData2":""}}`,
		"projects/shop/composite-apps/store/v1": `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`,
		"projects/shop/composite-apps/store/v1/apps":                          `[{"metadata":{"name":"web"}}]`,
		"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod": `{"metadata":{"name":"prod"},"spec":{"version":"r1","logicalCloud":"eu"}}`,
		"projects/shop/logical-clouds/eu":                                     `{"metadata":{"name":"eu"},"spec":{"namespace":"shop","level":"1"}}`,
		"projects/shop/logical-clouds/eu/cluster-references":                  `[{"metadata":{"name":"paris"},"spec":{"clusterProvider":"edge","cluster":"paris"}}]`,
		"projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list":     `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"lab"}]}}`,
		"cluster-providers/edge":                                              `{"metadata":{"name":"edge"}}`,
		"cluster-providers/edge/clusters/paris":                               `{"metadata":{"name":"paris"},"spec":{"gitOps":{"gitOpsType":""}}}`,
		"cluster-providers/edge/clusters/paris/labels":                        `[{"clusterLabel":"west"}]`,
	} {
		mux.HandleFunc("GET /v2/"+path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") == "application/octet-stream" {
				_, _ = io.WriteString(w, kubeconfig)
				return
			}
			_, _ = io.WriteString(w, body)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestProjectsOfEMCOAreNotCreatedTwice(t *testing.T) {
	t.Parallel()
	emco := emcoServer(t)
	s := serve(t, t.TempDir(), func(c *Config) { c.EMCOOrchestrator = emco.URL })
	code, body := s.get("/v2/projects")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"namespace":"signpost-shop"`)
	require.Contains(t, body, `"namespace":"signpost-lab-`, "a name that is not a DNS label has a hash behind it")

	cloud := `{"metadata":{"name":"eu"},"spec":{"namespace":"eu"}}`
	code, body = s.send(http.MethodPost, "/v2/projects/none/logical-clouds", cloud)
	require.Equal(t, http.StatusNotFound, code, body)
	require.Contains(t, body, "projects/none does not exist in EMCO's orchestrator ("+emco.URL+"); create it there")
	code, body = s.send(http.MethodPost, "/v2/projects/shop/logical-clouds", cloud)
	require.Equal(t, http.StatusCreated, code, body)
	code, body = s.send(http.MethodPut, "/v2/projects/shop/logical-clouds/eu", strings.Replace(cloud, `"namespace":"eu"`, `"namespace":"signpost-shop"`, 1))
	require.Equal(t, http.StatusOK, code, body)
	code, body = s.send(http.MethodPost, "/v2/projects/Lab/logical-clouds", strings.Replace(cloud, `"namespace":"eu"`, `"namespace":"signpost-shop"`, 1))
	require.Equal(t, http.StatusConflict, code, body)
	require.Contains(t, body, "is the namespace of project shop")

	for _, write := range []struct{ method, path, body string }{
		{http.MethodPost, "/v2/projects", `{"metadata":{"name":"new"},"spec":{}}`},
		{http.MethodPut, "/v2/projects/shop", `{"metadata":{"name":"shop"},"spec":{"namespace":"kube-system"}}`},
		{http.MethodDelete, "/v2/projects/shop", ""},
	} {
		code, body = s.send(write.method, write.path, write.body)
		require.Equal(t, http.StatusConflict, code, body)
		require.Contains(t, body, "is kept by EMCO's orchestrator ("+emco.URL+"); write it there", write.method)
	}

	emco.Close()
	code, body = s.send(http.MethodPost, "/v2/projects/later/logical-clouds", cloud)
	require.Equal(t, http.StatusServiceUnavailable, code, body)
	require.Contains(t, body, "EMCO's orchestrator ("+emco.URL+") does not answer")
	code, _ = s.get("/v2/projects/shop/logical-clouds/eu")
	require.Equal(t, http.StatusOK, code, "own documents are there")
	_, body = s.get("/metrics")
	require.Contains(t, body, `signpost_emco_requests_total{outcome="answered",service="orchestrator"}`)
	require.Contains(t, body, `signpost_emco_requests_total{outcome="silent",service="orchestrator"} 2`)
	code, body = s.get("/readyz")
	require.Equal(t, http.StatusOK, code, body)
	s.stop()
}

// A group that EMCO keeps is planned, released and terminated as one of
// Signpost's own, also while EMCO is away.
func TestAGroupOfEMCOIsReleased(t *testing.T) {
	t.Parallel()
	emco, dir := emcoServer(t), t.TempDir()
	s := serve(t, dir, func(c *Config) { c.EMCOOrchestrator, c.EMCODCM, c.EMCOCLM = emco.URL, emco.URL, emco.URL })
	const group = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	must := func(status int, method, path, body string) string {
		t.Helper()
		got, answer := s.send(method, path, body)
		require.Equal(t, status, got, answer)
		return answer
	}
	must(201, "POST", "/v2/projects/shop/dns-update-records", `{"metadata":{"name":"lab"},"spec":{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},"environment":{"ETCD_URLS":"http://10.0.0.5:2379"}}}`)
	homeless := must(409, "POST", "/v2/projects/shop/dns-update-records", `{"metadata":{"name":"far"},"spec":{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}}`)
	require.Contains(t, homeless, "cluster-providers/edge/clusters/hub, which does not exist; create it first: ")
	require.Contains(t, homeless, "is kept by EMCO's CLM ("+emco.URL+"); write it there")
	must(201, "POST", group+"/traffic-group-intents", `{"metadata":{"name":"front"},"spec":{}}`)
	refused := must(400, "POST", group+"/traffic-group-intents/front/dns-intents", `{"metadata":{"name":"none"},"spec":{"app":"cart","serviceName":"web","hostnames":["shop.lab.example"]}}`)
	require.Contains(t, refused, "web", "the composite app's apps are known")
	must(201, "POST", group+"/traffic-group-intents/front/dns-intents", `{"metadata":{"name":"web"},"spec":{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}}`)
	plan := must(200, "POST", group+"/plan", "")
	require.Contains(t, plan, "edge+paris")
	require.Contains(t, plan, `"errors":[]`)
	must(202, "POST", group+"/instantiate", "")
	require.Contains(t, must(200, "GET", "/v2/projects/shop/dns-update-records/lab/users", ""), "edge+paris")
	require.Contains(t, must(200, "GET", "/v2/cluster-providers/edge/clusters/paris/preflight", ""), "connection refused", "CLM's kubeconfig is used")
	view := must(200, "GET", "/v2/cluster-providers/edge/clusters/paris", "")
	require.Contains(t, view, `"west":""`)
	require.NotContains(t, view, "emco:", "the reference is internal")

	emco.Close()
	must(200, "GET", group+"/status", "")
	must(202, "POST", group+"/terminate", "")
	s.stop()
	secret := false
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		secret = secret || strings.Contains(string(raw), "t0p-s3cr3t")
		return err
	}))
	require.False(t, secret, "no kubeconfig is on the disk")
}

// TestAClusterOfCLMDoesNotChangeWithTheKeyOfSecrets: its document tells one
// kubeconfig from another, and this one is the same.
func TestAClusterOfCLMDoesNotChangeWithTheKeyOfSecrets(t *testing.T) {
	t.Parallel()
	emco, dir := emcoServer(t), t.TempDir()
	view := func(current byte, old string) string {
		s := serve(t, dir, func(c *Config) {
			c.EMCOCLM, c.SecretKeyFile, c.OldSecretKeyFile = emco.URL, keyFile(t, current), old
		})
		defer s.stop()
		code, answer := s.get("/v2/cluster-providers/edge/clusters/paris")
		require.Equal(t, http.StatusOK, code, answer)
		require.Eventually(t, func() bool { return s.sealedBy()[aKey(current).ID()] == "1" }, patience, 20*time.Millisecond)
		return answer
	}
	was := view(1, "")
	require.Contains(t, was, `"revision":`)
	require.Equal(t, was, view(2, keyFile(t, 1)))
	require.Equal(t, was, view(2, ""))
}

// An orchestrator writes its app contexts into its own etcd, never into
// Signpost's embedded one.
func TestAnEtcdThatEMCODoesNotReachIsWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		change func(c *Config)
		warns  bool
	}{
		{"without EMCO", func(*Config) {}, false},
		{"the orchestrator's documents", func(c *Config) { c.EMCOOrchestrator = "http://orchestrator.emco:9015" }, true},
		{"DCM's documents", func(c *Config) { c.EMCODCM = "http://dcm.emco:9077" }, true},
		{"CLM's documents", func(c *Config) { c.EMCOCLM = "http://clm.emco:9061" }, true},
		{"clusters by rsync", func(c *Config) { c.RsyncEndpoint = "rsync.emco:9031" }, true},
		{"EMCO's etcd", func(c *Config) {
			c.EMCOOrchestrator, c.RsyncEndpoint, c.EtcdEndpoints = "http://orchestrator.emco:9015", "rsync.emco:9031", []string{"http://etcd.emco:2379"}
		}, false},
	} {
		var log bytes.Buffer
		config := fits()
		c.change(&config)
		warnOfOwnEtcd(t.Context(), config, slog.New(slog.NewTextHandler(&log, nil)))
		if !c.warns {
			require.Empty(t, log.String(), c.reason)
			continue
		}
		require.Contains(t, log.String(), "level=WARN", c.reason)
		require.Contains(t, log.String(), "give --etcd-endpoints the etcd of its orchestrator", c.reason)
	}
}

func TestURLsOfEMCOAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		change func(c *Config)
		says   []string // none: it fits
	}{
		{"all three", func(c *Config) {
			c.EMCOOrchestrator, c.EMCODCM, c.EMCOCLM = "http://o:9015", "https://d", "http://gateway/clm/"
		}, nil},
		{"one of them", func(c *Config) { c.EMCODCM = "http://d:9077" }, nil},
		{"no scheme", func(c *Config) { c.EMCOOrchestrator = "orchestrator:9015" }, []string{"--emco-orchestrator", "http://orchestrator.emco:9015"}},
		{"no host", func(c *Config) { c.EMCODCM = "http://" }, []string{"--emco-dcm", "http://dcm.emco:9077"}},
		{"another scheme", func(c *Config) { c.EMCOCLM = "grpc://clm" }, []string{"--emco-clm", "http://clm.emco:9061"}},
		{"a query", func(c *Config) { c.EMCOCLM = "http://clm?x=y" }, []string{"--emco-clm", "base URL"}},
		{"with /v2", func(c *Config) { c.EMCOCLM = "http://clm:9061/v2/" }, []string{"--emco-clm", "remove /v2"}},
		{"not a URL", func(c *Config) { c.EMCOCLM = "http://clm:x" }, []string{"--emco-clm", "not a URL"}},
		{"a password is not shown", func(c *Config) { c.EMCODCM = "http://me:s3cr3t@dcm?x" }, []string{"--emco-dcm: it is not a base URL"}},
	} {
		config := fits()
		c.change(&config)
		err := config.Check()
		if c.says == nil {
			require.NoError(t, err, c.reason)
			continue
		}
		for _, text := range c.says {
			require.ErrorContains(t, err, text, c.reason)
		}
		require.NotContains(t, err.Error(), "s3cr3t", c.reason)
	}
}
