package api_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// blocking is an admitter whose writes tell that they are at work, and wait to
// be let go.
type blocking struct {
	*admission.Admitter
	entered chan<- string
	leave   <-chan struct{}
}

func (b blocking) Put(ctx context.Context, w *review.Write) (intent.Document, error) {
	b.entered <- string(w.Path)
	<-b.leave
	return b.Admitter.Put(ctx, w)
}

// busy is a world with one place for writes, which anna's takes until leave is
// closed; done gets the status of that write. Bob asks next.
func busy(t *testing.T) (w *world, leave chan<- struct{}, done <-chan int) {
	entered, gate, status := make(chan string, 10), make(chan struct{}), make(chan int, 1)
	_, authenticator := tokenFile(t, "a,anna,admin\nb,bob,admin\n")
	w = newWorld(t, func(o *api.Options) {
		o.MaxWrites, o.Authenticator = 1, authenticator
		o.Admitter = blocking{admission.New(o.Store, review.Rules{}), entered, gate}
	})
	w.token = "a"
	go func() { status <- w.send("POST", "/v2/projects", `{"metadata":{"name":"first"}}`).Code }()
	require.Equal(t, "projects/first", <-entered)
	w.token = "b"
	return w, gate, status
}

func TestReadsAreAnsweredWhileWritesAreShed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, leave, done := busy(t)
		refused := w.send("POST", "/v2/projects", `{"metadata":{"name":"second"}}`).want(http.StatusTooManyRequests)
		require.Equal(t, "1", refused.Header().Get("Retry-After"))
		require.Contains(t, refused.Body.String(), "try again")
		for _, path := range []string{"/v2/projects", "/healthz", "/readyz", "/metrics"} {
			w.send("GET", path, nil).want(http.StatusOK)
		}
		require.Contains(t, w.send("GET", "/metrics", nil).Body.String(), `signpost_shed_total{kind="write"} 1`)

		close(leave)
		require.Equal(t, http.StatusCreated, <-done)
		w.send("GET", "/v2/projects/second", nil).want(http.StatusNotFound) // what is shed has not been done
		w.send("POST", "/v2/projects", `{"metadata":{"name":"second"}}`).want(http.StatusCreated)
	})
}

func TestAWriteThatFindsNoPlaceWaitsItsTurn(t *testing.T) {
	t.Parallel()
	w, leave, done := busy(t)
	go func() { close(leave) }()
	w.send("POST", "/v2/projects", `{"metadata":{"name":"second"}}`).want(http.StatusCreated)
	require.Equal(t, http.StatusCreated, <-done)
}

// TestWhoSendsSlowlyTakesNoPlaceFromThoseAtWork: as slow loris does, with real
// connections, of which there are more than places for writes.
func TestWhoSendsSlowlyTakesNoPlaceFromThoseAtWork(t *testing.T) {
	t.Parallel()
	const writes = 2
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewServer(newWorld(t, func(o *api.Options) { o.MaxWrites = writes }).handler)
	server.Start()
	t.Cleanup(server.Close)
	for range 3 * writes {
		slow, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = slow.Close() })
		_, err = io.WriteString(slow, "POST /v2/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
		require.NoError(t, err)
		goOn := make([]byte, len("HTTP/1.1 100"))
		_, err = io.ReadFull(slow, goOn)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100", string(goOn), "the server waits for the body")
	}
	for i := range 3 * writes {
		body := strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"p%d"}}`, i))
		answer, err := server.Client().Post(server.URL+"/v2/projects", "application/json", body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusCreated, answer.StatusCode)
	}
}

// TestNobodyHasMoreThanHalfOfThePlacesForWrites: whose writes take long keeps
// nobody else's from being done.
func TestNobodyHasMoreThanHalfOfThePlacesForWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, authenticator := tokenFile(t, "g,greedy,admin\nm,modest,admin\n")
		entered, gate := make(chan string, 4), make(chan struct{})
		w := newWorld(t, func(o *api.Options) {
			o.MaxWrites, o.Authenticator = 4, authenticator
			o.Admitter = blocking{admission.New(o.Store, review.Rules{}), entered, gate}
		})
		var waiting sync.WaitGroup
		create := func(name string) int {
			return w.send("POST", "/v2/projects", `{"metadata":{"name":"`+name+`"}}`).Code
		}
		w.token = "g"
		for _, name := range []string{"one", "two"} {
			waiting.Go(func() { create(name) })
			<-entered
		}
		refused := w.send("POST", "/v2/projects", `{"metadata":{"name":"three"}}`).want(http.StatusTooManyRequests)
		require.Contains(t, refused.Body.String(), "greedy asks for more at once than one subject may (write); try again")
		require.Equal(t, "1", refused.Header().Get("Retry-After"))
		w.send("GET", "/v2/projects", nil).want(http.StatusOK)

		w.token = "m"
		var modest int
		waiting.Go(func() { modest = create("four") })
		require.Equal(t, "projects/four", <-entered)
		require.Contains(t, w.send("GET", "/metrics", nil).Body.String(), `signpost_shed_total{kind="subject"} 1`)
		close(gate)
		waiting.Wait()
		require.Equal(t, http.StatusCreated, modest)
		w.token = "g"
		require.Equal(t, http.StatusCreated, create("three"))
	})
}

// TestBodiesOnTheirWayAreBounded, and nobody sends more than half of them: one who
// sends slowly does not keep another from being heard, but two together keep a third.
func TestBodiesOnTheirWayAreBounded(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "a,anna,admin\nb,bob,admin\nc,carl,admin\n")
	w := newWorld(t, func(o *api.Options) { o.MaxWrites, o.Authenticator = 1, authenticator })
	server := httptest.NewServer(w.handler)
	defer server.Close()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	body, end := io.Pipe()
	defer end.Close()
	sendsSlowly := func(token string, times int) {
		for range times {
			slow, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v2/projects", io.MultiReader(strings.NewReader("{"), body))
			require.NoError(t, err)
			slow.Header.Set("Content-Type", "application/json")
			slow.Header.Set("Authorization", "Bearer "+token)
			waiting.Go(func() {
				if answer, err := server.Client().Do(slow); err == nil {
					_ = answer.Body.Close()
				}
			})
		}
	}
	sends := func(token string) int {
		w.token = token
		return w.send("POST", "/v2/projects/none/dns-update-records", `{}`).Code
	}
	shed := func(token, by string) func() bool {
		return func() bool {
			if sends(token) == http.StatusTooManyRequests {
				return true
			}
			sendsSlowly(by, 1) // this request may have had the place of an earlier one
			return false
		}
	}
	const places = 8 // for each write that may be at work
	sendsSlowly("a", places)
	require.Eventually(t, shed("a", "a"), time.Minute, time.Millisecond)
	require.Equal(t, http.StatusBadRequest, sends("c"))
	require.Contains(t, w.send("GET", "/metrics", nil).Body.String(), `signpost_shed_total{kind="subject"}`)
	sendsSlowly("b", places)
	require.Eventually(t, shed("c", "b"), time.Minute, time.Millisecond)
	w.send("GET", "/v2/projects", nil).want(http.StatusOK)
}

func TestEachSubjectHasABucketOfItsOwn(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "g,greedy,admin\nm,modest,admin\n")
	w := newWorld(t, func(o *api.Options) {
		o.Authenticator, o.Buckets = authenticator, throttle.NewBuckets(0.001, 3)
	})
	w.token = "g"
	for range 3 {
		w.send("GET", "/v2/projects", nil).want(http.StatusOK)
	}
	for _, method := range []string{"GET", "POST"} {
		refused := w.send(method, "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusTooManyRequests)
		seconds, err := strconv.Atoi(refused.Header().Get("Retry-After"))
		require.NoError(t, err)
		require.InDelta(t, 1000, seconds, 100, "when there is a token")
		require.Contains(t, refused.Body.String(), "greedy asks more often")
	}
	for range 9 {
		w.send("GET", "/readyz", nil).want(http.StatusOK)
		w.send("GET", "/metrics", nil).want(http.StatusOK)
	}
	w.token = "m"
	w.send("GET", "/v2/projects/shop", nil).want(http.StatusNotFound)
	require.Contains(t, w.send("GET", "/metrics", nil).Body.String(), `signpost_shed_total{kind="subject"} 2`)
}

func TestWhoIsNotAskedWhoTheyAreIsKnownByWhereTheyAskFrom(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "a,anna,admin\n")
	for name, w := range map[string]*world{
		"without tokens":     newWorld(t, func(o *api.Options) { o.Buckets = throttle.NewBuckets(0.001, 1) }),
		"what is for anyone": newWorld(t, func(o *api.Options) { o.Authenticator, o.Buckets = authenticator, throttle.NewBuckets(0.001, 1) }),
	} {
		from := func(remote string) int {
			request := httptest.NewRequestWithContext(t.Context(), "GET", "/version", nil)
			request.RemoteAddr = remote
			recorder := httptest.NewRecorder()
			w.handler.ServeHTTP(recorder, request)
			return recorder.Code
		}
		require.Equal(t, http.StatusOK, from("192.0.2.1:1000"), name)
		require.Equal(t, http.StatusTooManyRequests, from("192.0.2.1:2000"), "another port is nobody else")
		require.Equal(t, http.StatusTooManyRequests, from("[::ffff:192.0.2.1]:1"), "nor is another spelling")
		require.Equal(t, http.StatusOK, from("192.0.2.2:1000"))
		require.Equal(t, http.StatusOK, from("[2001:db8:1::1]:1000"))
		require.Equal(t, http.StatusTooManyRequests, from("[2001:db8:1::2]:1000"), "nor another address of one's own network")
		require.Equal(t, http.StatusOK, from("[2001:db8:2::1]:1000"))
	}
}

// TestRequestsForMoreMemoryThanThereIsAreShed: nothing was done then, and nobody
// takes more than half of it.
func TestRequestsForMoreMemoryThanThereIsAreShed(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "g,greedy,admin\nm,modest,admin\n")
	entered, gate := make(chan string, 1), make(chan struct{})
	w := newWorld(t, func(o *api.Options) {
		o.Authenticator, o.MaxBytes = authenticator, 10<<20
		o.Admitter = blocking{admission.New(o.Store, review.Rules{}), entered, gate}
	})
	w.token = "g"
	done := make(chan int)
	go func() { done <- w.send("POST", "/v2/projects", `{"metadata":{"name":"first"}}`).Code }()
	<-entered
	refused := w.send("GET", "/v2/projects", nil).want(http.StatusServiceUnavailable)
	require.Equal(t, "1", refused.Header().Get("Retry-After"))
	require.Contains(t, refused.Body.String(), "too little memory")
	w.send("POST", "/v2/projects", `{"metadata":{"name":"second"}}`).want(http.StatusServiceUnavailable)
	require.Contains(t, w.send("GET", "/metrics", nil).Body.String(), `signpost_shed_total{kind="memory"} 2`)
	w.token = "m"
	w.send("GET", "/v2/projects", nil).want(http.StatusOK)
	close(gate)
	require.Equal(t, http.StatusCreated, <-done)
	w.token = "g"
	w.send("GET", "/v2/projects/second", nil).want(http.StatusNotFound)
	w.send("GET", "/v2/projects", nil).want(http.StatusOK)
}

// TestWithoutMemoryOnlyProbesAndDeletionsAreAnswered: what takes something away is
// how there comes to be memory again.
func TestWithoutMemoryOnlyProbesAndDeletionsAreAnswered(t *testing.T) {
	t.Parallel()
	var scarce atomic.Bool
	w := newWorld(t, func(o *api.Options) { o.Scarce = scarce.Load })
	w.send("POST", "/v2/projects", `{"metadata":{"name":"first"}}`).want(http.StatusCreated)
	scarce.Store(true)
	w.send("GET", "/v2/projects", nil).want(http.StatusServiceUnavailable)
	const group = "/v2/projects/first/composite-apps/shop/v1/deployment-intent-groups/prod"
	for _, action := range []string{"plan", "instantiate", "update", "rollback"} {
		w.send("POST", group+"/"+action, nil).want(http.StatusServiceUnavailable)
	}
	w.send("POST", group+"/terminate", nil).want(http.StatusNotFound)
	w.send("POST", "/v2/projects/first/logical-clouds/eu/terminate", nil).want(http.StatusNotFound)
	w.send("DELETE", "/v2/projects/first", nil).want(http.StatusNoContent)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		w.send("GET", path, nil).want(http.StatusOK)
	}
}
