package api_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
)

// unwrapped is the handler alone: what checks answers keeps them until they are whole.
func unwrapped(t *testing.T, change func(*api.Options)) http.Handler {
	t.Helper()
	var options api.Options
	newWorld(t, change, func(o *api.Options) { options = *o })
	handler, err := api.New(options, nil)
	require.NoError(t, err)
	return handler
}

// deaf opens a connection of HTTP/2 that asks on so many streams and takes no byte
// of an answer.
func deaf(t *testing.T, address string, streams int) {
	t.Helper()
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // the server is the test's own
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	var out, header bytes.Buffer
	_, _ = out.WriteString(http2.ClientPreface)
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&header)
	require.NoError(t, framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	for n := range streams {
		header.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":path", "/v2/projects"}, {":authority", "localhost"}, {"cookie", strings.Repeat("c", 4000)}, {"cookie", strings.Repeat("c", 4000)}} {
			require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*n + 1), BlockFragment: header.Bytes(), EndHeaders: true, EndStream: true}))
	}
	_, err = connection.Write(out.Bytes())
	require.NoError(t, err)
}

// TestWhoDoesNotTakeAnAnswerHoldsFewRequests: without a token, on many streams of many
// connections; others are answered meanwhile.
func TestWhoDoesNotTakeAnAnswerHoldsFewRequests(t *testing.T) {
	t.Parallel()
	const most, streams = 40, 16
	_, authenticator := tokenFile(t, "a,anna,admin\n")
	connections := throttle.NewConnections(4*most, most, func(string) {})
	handler := unwrapped(t, func(o *api.Options) { o.Authenticator, o.Connections = authenticator, connections })
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewServer(handler)
	server.Listener = connections.Limit(server.Listener)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for range 10 {
		deaf(t, server.Listener.Addr().String(), streams)
	}
	for range 30 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v2/projects", http.NoBody)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer a")
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
	require.Eventually(t, func() bool { return connections.Len() <= 1+most/streams+1 }, 10*time.Second, 10*time.Millisecond, "the others have ended")
}

// timed is an answer that notes until when it may be written.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (r *timed) SetWriteDeadline(until time.Time) error {
	r.until = until
	return nil
}

// TestARefusalIsWrittenSoonOrNotAtAll: what was found for somebody may take longer.
func TestARefusalIsWrittenSoonOrNotAtAll(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "a,anna,admin\nb,bea,viewer,shop\n")
	handler := unwrapped(t, func(o *api.Options) { o.Authenticator = authenticator })
	for name, c := range map[string]struct {
		path, token string
		status      int
		soon        bool
	}{
		"nobody":      {"/v2/projects", "", http.StatusUnauthorized, true},
		"no rights":   {"/v2/projects/other", "b", http.StatusForbidden, true},
		"no path":     {"/v3", "", http.StatusNotFound, true},
		"an answer":   {"/v2/projects", "a", http.StatusOK, false},
		"a bad query": {"/v2/projects?limit=x", "a", http.StatusBadRequest, false},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		answer := &timed{ResponseRecorder: httptest.NewRecorder()}
		handler.ServeHTTP(answer, request)
		require.Equal(t, c.status, answer.Code, name)
		require.Equal(t, c.soon, !answer.until.IsZero() && time.Until(answer.until) <= 5*time.Second, name)
	}
}

// stuck is an answer that nobody takes until it is let go.
type stuck struct {
	*httptest.ResponseRecorder
	begun chan<- struct{}
	let   <-chan struct{}
}

func (r stuck) Write(p []byte) (int, error) {
	r.begun <- struct{}{}
	<-r.let
	return r.ResponseRecorder.Write(p)
}

// TestAnswersThatNobodyTakesHoldLittle: of what is for everybody nothing, so that
// strangers keep no subject from being answered, and of others their text.
func TestAnswersThatNobodyTakesHoldLittle(t *testing.T) {
	t.Parallel()
	const slow = 300
	for path, who := range map[string]string{"/v2/openapi.yaml": "", "/version": "", "/v2/projects/n1": "g"} {
		_, authenticator := tokenFile(t, "g,greedy,admin\nm,modest,admin\n")
		handler := unwrapped(t, func(o *api.Options) {
			o.Authenticator, o.MaxBytes = authenticator, 64<<20
		})
		ask := func(w http.ResponseWriter, method, path, token, body string) {
			request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			if token != "" {
				request.Header.Set("Authorization", "Bearer "+token)
			}
			handler.ServeHTTP(w, request)
		}
		made := httptest.NewRecorder()
		ask(made, "POST", "/v2/projects", "m", `{"metadata":{"name":"n1"}}`)
		require.Equal(t, http.StatusCreated, made.Code, made.Body.String())
		begun, let := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		for range slow {
			answer := stuck{httptest.NewRecorder(), begun, let}
			all.Go(func() { ask(answer, "GET", path, who, "") })
			<-begun
			require.Equal(t, http.StatusOK, answer.Code, path)
		}
		for _, token := range []string{"g", "m"} {
			answer := httptest.NewRecorder()
			ask(answer, "GET", "/v2/projects/n1", token, "")
			require.Equal(t, http.StatusOK, answer.Code, "%s beside %s: %s", token, path, answer.Body)
		}
		close(let)
		all.Wait()
	}
}
