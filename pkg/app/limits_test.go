package app

import (
	"net/http"
	"strings"
	"testing"

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
	require.Contains(t, string(s.ask("POST", "projects/shop/composite-apps", large, "three", http.StatusConflict)), `quota \"bytes\"`)
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"b"},"spec":{"compositeAppVersion":"v1"}}`, "four", http.StatusCreated)
	require.Contains(t, string(s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"c"},"spec":{"compositeAppVersion":"v1"}}`, "five", http.StatusConflict)), `quota \"documents\"`)
	_, metrics := s.get("/metrics")
	require.Contains(t, metrics, `signpost_project_documents{project="shop"} 3`)
	s.ask("DELETE", "projects/shop/composite-apps/b/v1", "", "six", http.StatusNoContent)
	s.ask("POST", "projects/shop/composite-apps", `{"metadata":{"name":"c"},"spec":{"compositeAppVersion":"v1"}}`, "seven", http.StatusCreated)
}
