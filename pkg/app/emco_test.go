package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// orchestrator is EMCO's, with two projects.
func orchestrator(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	for _, name := range []string{"shop", "Lab"} {
		mux.HandleFunc("GET /v2/projects/"+name, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"metadata":{"name":"`+name+`","description":"","userData1":"","userData2":""}}`)
		})
	}
	mux.HandleFunc("GET /v2/projects", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"metadata":{"name":"shop"}},{"metadata":{"name":"Lab"}}]`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestProjectsOfEMCOAreNotCreatedTwice(t *testing.T) {
	emco := orchestrator(t)
	s := serve(t, t.TempDir(), func(c *Config) { c.EMCOOrchestrator = emco.URL })
	code, body := s.get("/v2/projects")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"namespace":"signpost-shop"`)
	require.Contains(t, body, `"namespace":"signpost-lab-`, "a name that is no DNS label has a hash behind it")

	cloud := `{"metadata":{"name":"eu"},"spec":{"namespace":"eu"}}`
	code, body = s.send(http.MethodPost, "/v2/projects/none/logical-clouds", cloud)
	require.Equal(t, http.StatusNotFound, code, body)
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
	code, body = s.get("/readyz")
	require.Equal(t, http.StatusOK, code, body)
	s.stop()
}

func TestURLsOfEMCOAreChecked(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(c *Config)
		says   []string // none: it fits
	}{
		{"all three", func(c *Config) {
			c.EMCOOrchestrator, c.EMCODCM, c.EMCOCLM = "http://o:9015", "https://d", "http://gateway/clm/"
		}, nil},
		{"one of them", func(c *Config) { c.EMCODCM = "http://d:9077" }, nil},
		{"no scheme", func(c *Config) { c.EMCOOrchestrator = "orchestrator:9015" }, []string{"--emco-orchestrator", `"orchestrator:9015"`, "http://orchestrator.emco:9015"}},
		{"no host", func(c *Config) { c.EMCODCM = "http://" }, []string{"--emco-dcm", "http://dcm.emco:9077"}},
		{"another scheme", func(c *Config) { c.EMCOCLM = "grpc://clm" }, []string{"--emco-clm", "http://clm.emco:9061"}},
		{"a query", func(c *Config) { c.EMCOCLM = "http://clm?x=y" }, []string{"--emco-clm", "base URL"}},
		{"with /v2", func(c *Config) { c.EMCOCLM = "http://clm:9061/v2/" }, []string{"--emco-clm", "leave /v2 out"}},
		{"no URL", func(c *Config) { c.EMCOCLM = "http://clm:x" }, []string{"--emco-clm", "no URL"}},
		{"a password is not shown", func(c *Config) { c.EMCODCM = "http://me:s3cr3t@dcm?x" }, []string{"me:xxxxx@dcm"}},
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
