package client

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnAnswerOfAnotherProgramIsTold, whatever its status is.
func TestAnAnswerOfAnotherProgramIsTold(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusForbidden} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>Welcome</html>"))
		}))
		t.Cleanup(server.Close)
		api, err := New(server.URL, Options{})
		require.NoError(t, err)
		_, err = api.Do(t.Context(), http.MethodGet, "projects", nil, nil)
		require.ErrorContains(t, err, "is not Signpost's")
		require.ErrorContains(t, err, "text/html")
	}
}
