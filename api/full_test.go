package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
)

// TestANearlyFullStoreTakesNoDocuments, but lets them be read and deleted.
func TestANearlyFullStoreTakesNoDocuments(t *testing.T) {
	t.Parallel()
	full := false
	w := newWorld(t, func(o *api.Options) { o.NearlyFull = func() bool { return full } })
	w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
	full = true
	for method, path := range map[string]string{"POST": "/v2/projects", "PUT": "/v2/projects/shop"} {
		name := map[string]string{"POST": "blog", "PUT": "shop"}[method]
		refused := w.send(method, path, `{"metadata":{"name":"`+name+`","description":"more"}}`).want(http.StatusServiceUnavailable)
		require.Equal(t, "300", refused.Header().Get("Retry-After"))
		require.Contains(t, refused.problem(), "nearly full, and the document was not written: delete what is not needed")
	}
	w.send("GET", "/v2/projects/blog", nil).want(http.StatusNotFound)
	require.NotContains(t, w.send("GET", "/v2/projects/shop", nil).want(http.StatusOK).Body.String(), "more")
	w.send("DELETE", "/v2/projects/shop", nil).want(http.StatusNoContent)
	full = false
	w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
}
