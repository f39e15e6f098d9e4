package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
)

func TestBrowsersAreLedToTheConsole(t *testing.T) {
	t.Parallel()
	var options api.Options
	newWorld(t, func(o *api.Options) { options = *o })
	handler, err := api.New(options, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "the console at "+r.URL.Path)
	}))
	require.NoError(t, err)
	ask := func(method, path, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, http.NoBody)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/", "/ui"} {
		led := ask(http.MethodGet, path, "text/html,application/xhtml+xml,*/*;q=0.8")
		require.Equal(t, http.StatusFound, led.Code, path)
		require.Equal(t, "ui/", led.Header().Get("Location"), "a relative way holds behind an ingress that takes off a prefix")
	}
	require.Equal(t, "the console at /ui/x", ask(http.MethodGet, "/ui/x", "*/*").Body.String())
	require.Equal(t, http.StatusNotFound, ask(http.MethodGet, "/", "application/json").Code, "a program gets a problem as before")
	require.Equal(t, http.StatusNotFound, ask(http.MethodGet, "/uix", "text/html").Code)
}
