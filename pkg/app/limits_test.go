package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProjectsAreKeptToTheirQuotas, whatever kind of document it is, and the metrics
// tell what they have.
func TestProjectsAreKeptToTheirQuotas(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), func(c *Config) { c.MaxDocuments, c.MaxBytes = 3, 5000 })
	s.ask("POST", "projects", `{"metadata":{"name":"shop"}}`, "one", http.StatusCreated)
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"a"},"spec":{"compositeAppVersion":"v1"}}`, "two", http.StatusCreated)
	large := `{"metadata":{"name":"b","userData1":"` + strings.Repeat("x", 5000) + `"},"spec":{"compositeAppVersion":"v1"}}`
	require.Contains(t, string(s.ask("POST", "projects/shop/composite-apps", large, "three", http.StatusConflict)), "spec.quotas.bytes")
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"b"},"spec":{"compositeAppVersion":"v1"}}`, "four", http.StatusCreated)
	require.Contains(t, string(s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"c"},"spec":{"compositeAppVersion":"v1"}}`, "five", http.StatusConflict)), "spec.quotas.documents")
	_, metrics := s.get("/metrics")
	require.Contains(t, metrics, `signpost_project_documents{project="shop"} 3`)
	s.ask("DELETE", "projects/shop/composite-apps/b/v1", "", "six", http.StatusNoContent)
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"c"},"spec":{"compositeAppVersion":"v1"}}`, "seven", http.StatusCreated)
}

// TestReleasesAreKeptToTheRateOfTheirProject: rolling back over and over fills no store.
func TestReleasesAreKeptToTheRateOfTheirProject(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), func(c *Config) { c.MaxBytes = 2 << 20 })
	s.ask("PUT", "projects/shop", `{"metadata":{"name":"shop"}}`, "", http.StatusCreated)
	s.ask("PUT", "cluster-providers/edge", `{"metadata":{"name":"edge"}}`, "", http.StatusCreated)
	s.ask("PUT", "projects/shop/logical-clouds/eu", `{"metadata":{"name":"eu"},"spec":{"namespace":"shop"}}`, "", http.StatusCreated)
	for n := range 4 {
		name := fmt.Sprintf("c%d", n)
		s.ask("PUT", "cluster-providers/edge/clusters/"+name, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"directory":%q}}`, name, name), "", http.StatusCreated)
		s.ask("PUT", "projects/shop/logical-clouds/eu/cluster-references/"+name, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"clusterProvider":"edge","cluster":%q}}`, name, name), "", http.StatusCreated)
	}
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"a"},"spec":{"compositeAppVersion":"v1"}}`, "", http.StatusCreated)
	const group = "projects/shop/composite-apps/a/v1/deployment-intent-groups/prod"
	deploy := func(filler string, status int) {
		s.ask("PUT", group, fmt.Sprintf(`{"metadata":{"name":"prod"},"spec":{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"x":%q}}]}]}}`, strings.Repeat(filler, 200<<10)), "", status)
	}
	deploy("x", http.StatusCreated)
	s.ask("POST", group+"/instantiate", "", "", http.StatusAccepted)
	deploy("y", http.StatusOK)
	require.Eventually(t, func() bool {
		_, status := s.get("/v2/" + group + "/status")
		return strings.Contains(status, `"state":"Instantiated"`)
	}, patience, 20*time.Millisecond)
	s.ask("POST", group+"/update", "", "", http.StatusAccepted)
	require.Contains(t, string(s.ask("POST", group+"/rollback", "", "", http.StatusTooManyRequests)), "spec.quotas.bytes")
	s.ask("POST", group+"/terminate", "", "", http.StatusAccepted)
}
