package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

func TestAnUnknownRouteIs404AsAProblem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/", "/v2", "/v3/projects", "/v2/nothing", "/v2//projects", "/v2/projects/a//dns-update-records", "/v2/projects/a/nothing"} {
		w.send("GET", path, nil).want(http.StatusNotFound)
	}
}

func TestAWrongMethodIs405WithAllow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, allow := range map[string]string{
		"/v2/projects":      "GET, HEAD, OPTIONS, POST",
		"/v2/project/shop/": "DELETE, GET, HEAD, OPTIONS, PUT",
		"/v2/projects/shop/dns-update-records/lab/update": "OPTIONS, POST",
	} {
		answer := w.send("PATCH", path, nil).want(http.StatusMethodNotAllowed)
		require.Equal(t, allow, answer.Header().Get("Allow"))
		require.Contains(t, answer.problem(), "PATCH is not allowed here")
		require.Equal(t, allow, w.send("OPTIONS", path, nil).want(http.StatusNoContent).Header().Get("Allow"))
	}
}

func TestAnswersQuoteTextAsItWasGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.send("PUT", "/v2/projects/shop", `{"metadata":{"name":"shop"},"spec":{"a<b>&":1}}`)
	require.Contains(t, answer.want(http.StatusBadRequest).Body.String(), `/spec/a<b>&`)
}

func TestErrorsOfTheLifecycleKeepTheirStatusAndFields(t *testing.T) {
	t.Parallel()
	group := rows()[9].item
	for _, c := range []struct {
		err  error
		want int
	}{
		{&intent.Error{Code: intent.Conflict, Detail: "the plan has errors", Fields: []intent.Field{{Pointer: "/spec/apps", Detail: "d"}}}, 409},
		{&intent.Error{Code: intent.PreconditionFailed, Detail: "the plan changed"}, 412},
		{&intent.Error{Code: intent.Unavailable, Detail: "the store does not answer", Err: errors.New("dial 10.1.2.3")}, 503},
		{fmt.Errorf("wrapped: %w", &intent.Error{Code: intent.Conflict, Detail: "outer"}), 409},
		{context.DeadlineExceeded, 503},
		{&intent.Error{Detail: "no code: hush"}, 500},
		{errors.New("hush"), 500},
	} {
		w := newWorld(t).fill("")
		w.lifecycle.err = c.err
		answer := w.send("POST", group+"/instantiate", nil).want(c.want)
		require.NotContains(t, answer.Body.String(), "hush")
		require.NotContains(t, answer.Body.String(), "10.1.2.3")
		require.Equal(t, answer.Header().Get("X-Request-ID"), answer.json()["requestID"])
		if c.want == http.StatusConflict && !strings.Contains(c.err.Error(), "wrapped") {
			require.Contains(t, answer.problem(), "/spec/apps: d")
		}
	}
	w := newWorld(t)
	w.send("POST", group+"/instantiate", nil).want(http.StatusNotFound)
	w.send("GET", group+"/status", nil).want(http.StatusNotFound)
}

func TestARecordIsStillStoredWhenItsStatusCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSUpdateRecord")
	w.lifecycle.err = &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer"}
	w.send("POST", rows()[3].collection, w.example(rows()[3])).want(http.StatusCreated)
	w.send("GET", rows()[3].item, nil).want(http.StatusServiceUnavailable)
}

func TestASealThatFailsStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) {
		o.Sealer = &sealer{err: &intent.Error{Code: intent.Unavailable, Detail: "the store does not answer"}}
	})
	for _, r := range rows()[:3] {
		w.send("POST", r.collection, w.example(r)).want(http.StatusCreated)
	}
	before := w.kv.Revision()
	w.send("POST", rows()[3].collection, w.example(rows()[3])).want(http.StatusServiceUnavailable)
	require.Equal(t, before, w.kv.Revision())
}

// panicking is an admitter with a bug.
type panicking struct{ *admission.Admitter }

func (panicking) View(context.Context, intent.Document) (review.View, error)      { panic("hush") }
func (panicking) Views(context.Context, []intent.Document) ([]review.View, error) { panic("hush") }

func TestAPanicIs500AndLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, func(o *api.Options) {
		o.Admitter = panicking{admission.New(o.Store, review.Rules{})}
		o.Log = slog.New(tracing.Handler(slog.NewTextHandler(&log, nil)))
	})
	answer := w.send("POST", "/v2/projects", `{"metadata":{"name":"x"}}`, "X-Request-ID", "abc-1").want(http.StatusInternalServerError)
	require.NotContains(t, answer.Body.String(), "hush")
	require.Equal(t, "abc-1", answer.json()["requestID"])
	require.Contains(t, log.String(), "hush")
	require.Contains(t, log.String(), "requestID=abc-1")
	for range 100 { // none keeps the memory that it was given
		w.send("GET", "/v2/projects", "").want(http.StatusInternalServerError)
	}
}

// racing changes a document between its judgement and its write.
type racing struct {
	*admission.Admitter
	store intent.Store
	times int
}

func (r *racing) Put(ctx context.Context, w *review.Write) (intent.Document, error) {
	r.times--
	if r.times >= 0 {
		body := fmt.Sprintf(`{"metadata":{"name":"shop","description":"race %d"},"spec":{"namespace":"signpost-shop"}}`, r.times)
		if _, err := r.store.Put(ctx, intent.Write{Path: w.Path, Refs: w.Refs, Body: []byte(body)}); err != nil {
			return intent.Document{}, err
		}
	}
	return r.Admitter.Put(ctx, w)
}

func TestAPutStartsAgainWhenTheDocumentChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		times, exist int
		header       []string
		want         int
	}{
		{"changed", 3, 1, nil, 200},
		{"created meanwhile", 1, 0, nil, 200},
		{"never quiet", 1000, 1, nil, 503},
		{"with a precondition", 1, 1, []string{"If-Match", `"1"`}, 412},
		{"created meanwhile, wanted new", 1, 0, []string{"If-None-Match", "*"}, 412},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			race := &racing{}
			w := newWorld(t, func(o *api.Options) {
				race.Admitter, race.store = admission.New(o.Store, review.Rules{}), o.Store
				o.Admitter = race
			})
			if c.exist > 0 {
				w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
			}
			race.times = c.times
			w.send("PUT", "/v2/projects/shop", `{"metadata":{"name":"shop","description":"mine"}}`, c.header...).want(c.want)
		})
	}
}

func TestConcurrentPutsAllTakeEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			code := w.send("PUT", "/v2/projects/shop", fmt.Sprintf(`{"metadata":{"name":"shop","description":"%d"}}`, i)).Code
			if code != http.StatusOK {
				t.Errorf("put answered %d", code)
			}
		})
	}
	group.Wait()
	require.Equal(t, `"7"`, w.send("GET", "/v2/projects/shop", nil).Header().Get("ETag"))
}

func TestReadinessNamesEachDependency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) {
		o.Checks["etcd"] = func(context.Context) error { return errors.New("dial 10.1.2.3: refused") }
	})
	answer := w.send("GET", "/readyz", nil).want(http.StatusServiceUnavailable)
	require.JSONEq(t, `{"status":"unready","checks":[{"name":"etcd","ok":false,"message":"does not answer"},{"name":"store","ok":true,"message":""}]}`,
		answer.Body.String())
	require.NotEmpty(t, answer.Header().Get("Retry-After"))
	newWorld(t).send("GET", "/readyz/", nil).want(http.StatusOK)
}

// TestReadinessTellsOfWhatIsBeingLoaded: it makes nobody unready.
func TestReadinessTellsOfWhatIsBeingLoaded(t *testing.T) {
	t.Parallel()
	loading := []probes.Loading{{Name: "names", Done: 100}, {Name: "owners", Done: 7, Total: 120}}
	w := newWorld(t, func(o *api.Options) { o.Loading = func() []probes.Loading { return loading } })
	answer := w.send("GET", "/readyz", nil).want(http.StatusOK)
	require.JSONEq(t, `{"status":"ready","checks":[{"name":"store","ok":true,"message":""}],"loading":[{"name":"names","done":100},{"name":"owners","done":7,"total":120}]}`,
		answer.Body.String())
	loading = nil
	require.NotContains(t, w.send("GET", "/readyz", nil).want(http.StatusOK).Body.String(), "loading")
}

// TestDependenciesAreAskedOnceInASecond: however many ask, and whoever hangs up.
func TestDependenciesAreAskedOnceInASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		w := newWorld(t, func(o *api.Options) {
			o.Checks["etcd"] = func(ctx context.Context) error {
				time.Sleep(time.Second / 10)
				if asked.Add(1) == 3 {
					return errors.New("is gone")
				}
				return ctx.Err()
			}
		})
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		w.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, "GET", "/readyz", http.NoBody))
		for range 50 {
			w.send("GET", "/readyz", nil).want(http.StatusOK)
		}
		require.EqualValues(t, 1, asked.Load())
		for n, status := range []int{http.StatusOK, http.StatusServiceUnavailable, http.StatusOK} {
			time.Sleep(time.Second)
			w.send("GET", "/readyz", nil).want(status)
			w.send("GET", "/readyz", nil).want(status)
			require.EqualValues(t, n+2, asked.Load())
		}
	})
}

func TestVersionHealthAndDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.JSONEq(t, `{"version":"v0.1.0","commit":"0a1b2c3d","go":"go1.26"}`, w.send("GET", "/version", nil).want(http.StatusOK).Body.String())
	require.JSONEq(t, `{"status":"ok"}`, w.send("GET", "/healthz", nil).want(http.StatusOK).Body.String())
	require.Contains(t, w.send("GET", "/v2/openapi.yaml", nil).want(http.StatusOK).Body.String(), "openapi: 3.0.3")
}

func TestMetricsCountByRouteMethodAndCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("GET", "/v2/project/none/", nil).want(http.StatusNotFound)
	w.send("GET", "/nowhere", nil).want(http.StatusNotFound)
	w.send("BREW", "/nowhere/else", nil).want(http.StatusNotFound)
	text := w.send("GET", "/metrics", nil).want(http.StatusOK).Body.String()
	require.Contains(t, text, `signpost_http_request_duration_seconds_count{code="404",method="GET",route="/v2/projects/{project}"} 1`)
	require.Contains(t, text, `signpost_http_request_duration_seconds_count{code="404",method="GET",route="none"} 1`)
	require.Contains(t, text, `{code="404",method="other",route="none"} 1`)
	require.Contains(t, text, "signpost_http_requests_in_flight 1")
}

func TestRequestIDsAreTakenWhenTheyAreSane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, "Trace_1.2-3", w.send("GET", "/healthz", nil, "X-Request-ID", "Trace_1.2-3").Header().Get("X-Request-ID"))
	for _, id := range []string{"", "a b", "a\tb", "ä", strings.Repeat("a", 65)} {
		given := w.send("GET", "/healthz", nil, "X-Request-ID", id).Header().Get("X-Request-ID")
		require.NotEqual(t, id, given)
		require.NotEmpty(t, given)
	}
}

func TestTheAccessLogNamesRequestActorAndStatusButNoToken(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	_, authenticator := tokenFile(t, "hush,anna,admin\n")
	w := newWorld(t, func(o *api.Options) {
		o.Authenticator, o.Log = authenticator, slog.New(tracing.Handler(slog.NewJSONHandler(&log, nil)))
	})
	w.token = "hush"
	w.send("GET", "/v2/projects/", nil, "X-Request-ID", "r1").want(http.StatusOK)
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	require.Equal(t, "r1", line["requestID"])
	require.Equal(t, "anna", line["actor"])
	require.EqualValues(t, 200, line["status"])
	require.Equal(t, "/v2/projects/", line["path"])
	require.NotContains(t, log.String(), "hush")
}

func TestMissingOptionsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := api.New(api.Options{}, nil)
	require.ErrorContains(t, err, "Store")
	w := newWorld(t)
	registry := prometheus.NewRegistry()
	options := api.Options{Store: w.store, Admitter: admission.New(w.store, review.Rules{}), Sealer: &sealer{}, Lifecycle: w.lifecycle, Clusters: w.lifecycle, Corefiles: &w.corefiles, Metrics: registry}
	_, err = api.New(options, nil)
	require.NoError(t, err)
	_, err = api.New(options, nil)
	require.ErrorContains(t, err, "metrics")
}

func TestTheServerHasLimits(t *testing.T) {
	t.Parallel()
	server := api.NewServer(http.NotFoundHandler())
	require.Equal(t, 10*time.Second, server.ReadHeaderTimeout)
	require.Equal(t, 30*time.Second, server.ReadTimeout)
	require.Equal(t, 90*time.Second, server.WriteTimeout)
	require.Equal(t, 2*time.Minute, server.IdleTimeout)
	require.Equal(t, 16<<10, server.MaxHeaderBytes)
	require.Equal(t, 16, server.HTTP2.MaxConcurrentStreams)
}

// TestNoClientHoldsAConnectionForEver: the time that ends it is shortened here.
func TestNoClientHoldsAConnectionForEver(t *testing.T) {
	handler := newWorld(t).handler
	const soon, late = 50 * time.Millisecond, 2 * time.Second // late enough for a header to have come before, on a busy machine
	for _, c := range []struct {
		does, sends, isTold string
		shorten             func(s *http.Server)
	}{
		{"sends nothing", "", "", func(s *http.Server) { s.ReadHeaderTimeout = soon }},
		{"never ends its header", "GET /v2/projects HTTP/1.1\r\nHost: x\r\nX-Slow:", "", func(s *http.Server) { s.ReadHeaderTimeout = soon }},
		{"sends an endless header", "GET /v2/projects HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 128<<10), "431", func(*http.Server) {}},
		{"never ends its body", "POST /v2/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "400",
			func(s *http.Server) { s.ReadTimeout = late }},
		{"asks and stays", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "200", func(s *http.Server) { s.IdleTimeout = soon }},
	} {
		t.Run(c.does, func(t *testing.T) {
			server := api.NewServer(handler)
			c.shorten(server)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- server.Serve(listener) }()
			t.Cleanup(func() {
				require.NoError(t, server.Close())
				require.ErrorIs(t, <-ended, http.ErrServerClosed)
			})
			connection, err := net.Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			defer connection.Close()
			require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
			_, _ = connection.Write([]byte(c.sends)) // the server may hang up before the end
			told, err := io.ReadAll(connection)
			if len(told) == 0 || c.isTold == "" {
				require.NoError(t, err, "the server hangs up")
			}
			require.Contains(t, string(told), c.isTold)
		})
	}
}

func TestOverARealConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	response, err := http.Post(server.URL+"/v2/project/", "application/json", strings.NewReader(`{"metadata":{"name":"x"}}`))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusCreated, response.StatusCode)
	response, err = http.Head(server.URL + "/v2/project/x")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, `"1"`, response.Header.Get("ETag"))
}

// TestA413ReachesWhoeverSendsABodyOver1MiB: also a client that reads no answer
// before it has sent everything, and one that asks before it sends anything.
func TestA413ReachesWhoeverSendsABodyOver1MiB(t *testing.T) {
	server := httptest.NewServer(newWorld(t).handler)
	t.Cleanup(server.Close)
	const size = 64 << 20
	for _, c := range []struct{ does, header, body string }{
		{"sends all of it first", fmt.Sprintf("Content-Length: %d", size), strings.Repeat(" ", size)},
		{"sends it in chunks", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat(" ", size))},
		{"asks first", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d", size), ""},
	} {
		t.Run(c.does, func(t *testing.T) {
			connection, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			defer connection.Close()
			require.NoError(t, connection.SetDeadline(time.Now().Add(time.Minute)))
			_, err = io.WriteString(connection, "POST /v2/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+c.header+"\r\n\r\n"+c.body)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			defer response.Body.Close()
			problem, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode, "%s", problem)
			require.Contains(t, string(problem), "over 1 MiB")
		})
	}
}

// hungUp is a client that goes away while its request is under way.
type hungUp struct {
	intent.Store
	leave context.CancelFunc
}

func (h hungUp) Get(ctx context.Context, _ intent.Path) (intent.Document, error) {
	h.leave()
	<-ctx.Done()
	return intent.Document{}, ctx.Err()
}

func TestAClientThatHangsUpIsNoErrorOfTheServer(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	var log bytes.Buffer
	w := newWorld(t, func(o *api.Options) {
		o.Store, o.Log = hungUp{o.Store, leave}, slog.New(tracing.Handler(slog.NewTextHandler(&log, nil)))
	})
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v2/projects/shop", http.NoBody)
	w.handler.ServeHTTP(httptest.NewRecorder(), request)
	require.Contains(t, log.String(), `level=INFO msg="request failed"`)
	require.NotContains(t, log.String(), "level=ERROR")
}
