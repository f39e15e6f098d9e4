package console

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

func serve(t *testing.T, signIn SignIn) http.Handler {
	t.Helper()
	h, err := New(signIn)
	require.NoError(t, err)
	return h
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestThePageBringsAllThatItNames(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	page := get(h, "/ui/")
	require.Equal(t, http.StatusOK, page.Code)
	require.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	require.Equal(t, "no-cache", page.Header().Get("Cache-Control"))
	named := regexp.MustCompile(`(?:src|href)="(\./[^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	require.GreaterOrEqual(t, len(named), 2, "a script and a style sheet, by relative ways")
	for _, one := range named {
		file := get(h, "/ui/"+strings.TrimPrefix(one[1], "./"), "Accept-Encoding", "gzip")
		require.Equal(t, http.StatusOK, file.Code, one[1])
		require.Equal(t, "gzip", file.Header().Get("Content-Encoding"))
		require.Equal(t, "public, max-age=31536000, immutable", file.Header().Get("Cache-Control"))
		require.Equal(t, pagePolicy, file.Header().Get("Content-Security-Policy"))
	}
}

func TestTheFirstScreenTakesAtMost250KBOfScript(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	script := regexp.MustCompile(`src="\./(assets/[^"]+\.js)"`).FindStringSubmatch(get(h, "/ui/").Body.String())
	require.Len(t, script, 2)
	answer := get(h, "/ui/"+script[1], "Accept-Encoding", "gzip")
	require.Equal(t, "text/javascript; charset=utf-8", answer.Header().Get("Content-Type"))
	require.Less(t, answer.Body.Len(), 250<<10)
	unzipped, err := gzip.NewReader(answer.Body)
	require.NoError(t, err)
	whole, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.Equal(t, get(h, "/ui/"+script[1]).Body.String(), string(whole), "compressed or not, the same script")
}

func TestThePageIsConfined(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	for _, path := range []string{"/ui/", "/ui/index.html", "/ui/settings.json"} {
		header := get(h, path).Header()
		require.Equal(t, pagePolicy, header.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", header.Get("Referrer-Policy"), path)
		require.Empty(t, header.Values("Set-Cookie"), path)
	}
}

func TestTheIssuerMayBeAsked(t *testing.T) {
	t.Parallel()
	signIn := SignIn{
		Issuer: "https://issuer.example/realm", ClientID: "console", Audiences: []string{"signpost"},
		Endpoints: func(context.Context) (authorization, token string, err error) {
			return "https://issuer.example/realm/authorize", "https://tokens.example/token", nil
		},
	}
	h := serve(t, signIn)
	require.Equal(t, strings.Replace(pagePolicy, "connect-src 'self'", "connect-src 'self' https://issuer.example/realm https://tokens.example/token", 1),
		get(h, "/ui/").Header().Get("Content-Security-Policy"))
	var said map[string]any
	require.NoError(t, json.Unmarshal(get(h, "/ui/settings.json").Body.Bytes(), &said))
	require.Equal(t, map[string]any{
		"anonymous": false, "issuer": "https://issuer.example/realm", "clientID": "console", "audiences": []any{"signpost"},
		"authorizationEndpoint": "https://issuer.example/realm/authorize", "tokenEndpoint": "https://tokens.example/token",
	}, said)

	signIn.Endpoints = func(context.Context) (authorization, token string, err error) { return "", "", errors.New("down") }
	require.Contains(t, get(serve(t, signIn), "/ui/settings.json").Body.String(), "paste a token instead", "while the issuer is down")
}

func TestAnEndpointCannotWidenThePolicy(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{"https://a.example/; script-src *", "https://a.example/,b", "//", "javascript:alert(1)", "https://a.example/' *"} {
		require.Empty(t, sources(hostile), hostile)
	}
}

func TestAKnownFileIsNotSentAgain(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	tag := get(h, "/ui/").Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, get(h, "/ui/", "If-None-Match", tag).Code)
}

func TestOnlyBuiltFilesAreServed(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	for _, path := range []string{"/ui/package.json", "/ui/../console.go", "/ui/assets/", "/ui/assets"} {
		require.Equal(t, http.StatusNotFound, get(h, path).Code, path)
	}
	r := httptest.NewRequest(http.MethodPost, "/ui/", strings.NewReader("{}"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}

func TestWithoutABuildNothingIsServed(t *testing.T) {
	t.Parallel()
	_, err := newHandler(fstest.MapFS{"other.txt": {Data: []byte("x")}}, SignIn{})
	require.ErrorContains(t, err, "make console")
}

func TestTheBuildNamesNoOtherHost(t *testing.T) {
	t.Parallel()
	h := serve(t, SignIn{Anonymous: true})
	page := get(h, "/ui/").Body.String()
	require.NotRegexp(t, `(?:src|href)="(?:https?:)?//`, page)
	style := regexp.MustCompile(`href="\./(assets/[^"]+\.css)"`).FindStringSubmatch(page)
	require.Len(t, style, 2)
	require.NotContains(t, get(h, "/ui/"+style[1]).Body.String(), "url(")
}
