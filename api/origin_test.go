package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
)

// TestPagesOfOtherSitesAskForNothing: a browser says where a request comes from, or
// has asked before it sends one that no form could.
func TestPagesOfOtherSitesAskForNothing(t *testing.T) {
	t.Parallel()
	const terminate = "/v2/projects/shop/logical-clouds/west/terminate"
	for name, c := range map[string]struct {
		method, path string
		header       []string
		want         int
	}{
		"another origin":              {"POST", terminate, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"an origin that is hidden":    {"POST", terminate, []string{"Origin", "null"}, http.StatusForbidden},
		"the same host, another port": {"POST", terminate, []string{"Origin", "https://example.com:8443"}, http.StatusForbidden},
		"cross-site":                  {"POST", terminate, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"same-site":                   {"POST", terminate, []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"a deletion":                  {"DELETE", "/v2/projects/shop", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"the seed's path":             {"DELETE", "/v2/project/shop/", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"a form":                      {"POST", terminate, []string{"Content-Type", "application/x-www-form-urlencoded"}, http.StatusBadRequest},
		"a form with files":           {"POST", terminate, []string{"Content-Type", "multipart/form-data; boundary=x"}, http.StatusBadRequest},
		"a form of text":              {"POST", terminate, []string{"Content-Type", "Text/Plain; charset=utf-8"}, http.StatusBadRequest},
		"a parameter twice":           {"POST", terminate, []string{"Content-Type", "text/plain; a=1; a=2"}, http.StatusBadRequest},
		"a parameter twice, in JSON":  {"POST", terminate, []string{"Content-Type", "application/json; a=1; a=2"}, http.StatusBadRequest},
		"what is not a media type":    {"POST", terminate, []string{"Content-Type", "text/plain, application/json"}, http.StatusBadRequest},
		"another media type":          {"POST", terminate, []string{"Content-Type", "image/png"}, http.StatusBadRequest},
		"a form, to a plan":           {"POST", "/v2/projects/shop/logical-clouds/west/plan", []string{"Content-Type", "text/plain"}, http.StatusBadRequest},
		"a form, to a document":       {"POST", "/v2/projects", []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},

		"a program":             {"POST", terminate, nil, http.StatusNotFound},
		"a program with JSON":   {"POST", terminate, []string{"Content-Type", "application/json"}, http.StatusNotFound},
		"a program with YAML":   {"POST", terminate, []string{"Content-Type", "application/yaml"}, http.StatusNotFound},
		"our own page":          {"POST", terminate, []string{"Origin", "https://example.com", "Sec-Fetch-Site", "same-origin"}, http.StatusNotFound},
		"who types the address": {"POST", terminate, []string{"Sec-Fetch-Site", "none"}, http.StatusNotFound},
		"a link":                {"GET", "/v2/projects", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorld(t).send(c.method, c.path, nil, c.header...).want(c.want)
		})
	}
}

// TestWithoutAuthenticationOnlyThisMachineIsAnswered, by its own names: another one
// may have been made to lead here.
func TestWithoutAuthenticationOnlyThisMachineIsAnswered(t *testing.T) {
	t.Parallel()
	var options api.Options
	newWorld(t, func(o *api.Options) { o.Local = true; options = *o })
	handler, err := api.New(options, nil)
	require.NoError(t, err)
	for host, want := range map[string]int{
		"localhost": 200, "LocalHost:9018": 200, "127.0.0.1:9018": 200, "127.1.2.3": 200, "[::1]:9018": 200, "[::1]": 200, "": 200,
		"evil.example": 421, "evil.example:9018": 421, "127.0.0.1.evil.example:9018": 421, "localhost.evil.example": 421,
		"192.0.2.1:9018": 421, "0.0.0.0:9018": 421, "127.0.0.1:9018:x": 421,
	} {
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/v2/projects", strings.NewReader(""))
		request.Host = host
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		require.Equal(t, want, recorder.Code, host)
	}
}
