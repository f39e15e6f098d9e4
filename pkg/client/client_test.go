package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

// server answers with the handlers in turn, the last one from then on, and
// counts the requests.
func server(t *testing.T, handlers ...http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	var count atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := int(count.Add(1)) - 1
		handlers[min(at, len(handlers)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, &count
}

func problem(status int, retryAfter, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, detail)
	}
}

func project(name string) client.Project {
	return client.Project{Metadata: client.Metadata{Name: name}}
}

func TestAProblemIsATypedError(t *testing.T) {
	url, _ := server(t, problem(400, "", `{"title":"Bad Request","status":400,"detail":"1 error","errors":[{"pointer":"/spec/x","detail":"unknown"}]}`))
	c, err := client.New(url, client.Options{})
	require.NoError(t, err)
	_, err = c.CreateProjectWithResponse(t.Context(), project("shop"))
	var e *client.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 400, e.Status)
	require.Equal(t, "/spec/x", e.Errors[0].Pointer)
	require.Contains(t, err.Error(), "/spec/x: unknown")
}

func TestWhatIsNoProblemDocumentIsAnErrorWithItsStatus(t *testing.T) {
	for _, media := range []string{"text/plain", "application/json", ""} {
		url, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, `{"error":"no backend"}`)
		})
		c, err := client.New(url, client.Options{})
		require.NoError(t, err)
		_, err = c.Do(t.Context(), http.MethodDelete, "projects/shop", nil, nil)
		var e *client.Error
		require.ErrorAs(t, err, &e, media)
		require.Equal(t, http.StatusBadGateway, e.Status)
	}
}

func TestTheTokenAndPathAreSent(t *testing.T) {
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.URL.String()+" "+r.Header.Get("If-Match"))
	})
	for _, base := range []string{url, url + "/", url + "/v2", url + "/v2/"} {
		c, err := client.New(base, client.Options{Token: "secret"})
		require.NoError(t, err)
		for path, want := range map[string]string{"projects?limit=1": "/v2/projects?limit=1", "/readyz": "/readyz"} {
			answer, err := c.Do(t.Context(), http.MethodGet, path, nil, http.Header{"If-Match": {`"3"`}})
			require.NoError(t, err)
			require.Equal(t, "Bearer secret "+want+` "3"`, string(answer.Body))
		}
	}
}

// TestTheTokenGoesWhereItWasToldToGo checks that no redirect is followed, whether
// or not a client for HTTP is given.
func TestTheTokenGoesWhereItWasToldToGo(t *testing.T) {
	elsewhere, got := server(t, func(http.ResponseWriter, *http.Request) {})
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		url, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, status) })
		for _, given := range []client.HttpRequestDoer{nil, &http.Client{}} {
			c, err := client.New(url, client.Options{Token: "secret", HTTPClient: given})
			require.NoError(t, err)
			_, err = c.Do(t.Context(), http.MethodGet, "projects", nil, nil)
			require.ErrorContains(t, err, `redirects to "`+elsewhere)
			_, err = c.CreateProjectWithResponse(t.Context(), project("shop"))
			require.ErrorContains(t, err, "is not followed")
		}
	}
	require.Zero(t, got.Load())
}

func TestABaseThatIsNoServerIsRefused(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:9018", "ftp://x", "http://", "::"} {
		_, err := client.New(base, client.Options{})
		require.ErrorContains(t, err, "http://127.0.0.1:9018")
	}
}
