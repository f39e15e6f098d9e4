package documents_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/documents"
)

func TestAnswersAreKeptForAWhile(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	for range 3 {
		w.get(s, eu)
	}
	require.Equal(t, 1, w.requests(eu))
	w.pass(documents.DefaultFresh)
	w.get(s, eu)
	require.Equal(t, 2, w.requests(eu))
}

// Who makes a project in EMCO goes on with Signpost at once.
func TestThatSomethingIsMissingIsKeptForASecond(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	for range 3 {
		_, err := s.Get(t.Context(), "projects/new")
		require.Equal(t, intent.NotFound, intent.CodeOf(err))
	}
	require.Equal(t, 1, w.requests("projects/new"))
	w.say("projects/new", `{"metadata":{"name":"new"}}`)
	w.pass(time.Second - documents.DefaultFresh) // which say has passed
	w.get(s, "projects/new")
}

func TestManyReadersAskOnce(t *testing.T) {
	const readers = 20
	w := newWorld(t)
	s := w.store()
	release := make(chan struct{})
	arrived := make(chan struct{}, readers)
	w.meanwhile(func(string) { arrived <- struct{}{}; <-release })
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			_, err := s.Get(t.Context(), eu)
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-arrived
	close(release)
	group.Wait()
	require.Equal(t, 1, w.requests(eu), "those who come later find it kept")
}

// One who does not wait any longer does not take the answer from the others.
func TestAReaderThatLeavesDisturbsNobody(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	release := make(chan struct{})
	arrived := make(chan struct{}, 1)
	w.meanwhile(func(string) { arrived <- struct{}{}; <-release })
	leaving, leave := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() { _, err := s.Get(leaving, eu); left <- err }()
	<-arrived
	go func() { _, err := s.Get(t.Context(), eu); stayed <- err }()
	leave()
	w.requireUnavailable(<-left, "was not waited for")
	close(release)
	require.NoError(t, <-stayed)
}

func TestWhileAServiceIsDownWhatWasKnownIsAnswered(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	s := w.store(func(o *documents.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	known := w.get(s, eu)
	_, err := s.Get(t.Context(), "projects/none")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	w.server.Close()
	w.pass(documents.DefaultFresh)
	require.Equal(t, known, w.get(s, eu))
	_, err = s.Get(t.Context(), shop)
	w.requireUnavailable(err, "orchestrator", "does not answer", "connection refused")
	_, err = s.Get(t.Context(), "projects/none")
	w.requireUnavailable(err, "orchestrator", "does not answer") // that it was missing may have changed
	_, err = s.List(t.Context(), intent.ListOptions{Collection: "cluster-providers"})
	w.requireUnavailable(err, "CLM")
	_, err = s.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{}`), Refs: []intent.Path{shop}})
	w.requireUnavailable(err, "orchestrator")
	require.Contains(t, log.String(), "a service of EMCO does not answer")

	w.pass(documents.DefaultStale - documents.DefaultFresh - time.Second)
	require.Equal(t, known, w.get(s, eu))
	require.NoError(t, s.Sweep(t.Context()))
	require.Equal(t, known, w.get(s, eu))
	w.pass(time.Second)
	_, err = s.Get(t.Context(), eu)
	w.requireUnavailable(err, "DCM")
	require.NoError(t, s.Ping(t.Context()), "Signpost itself is there")
	require.NoError(t, s.Sweep(t.Context()))
	require.NoError(t, s.Close())
}

// Most clusters have no KV pairs. An update of a group needs to know that of
// each, also while CLM is down.
func TestWhoHadNoKVPairsHasNoneWhileTheServiceIsDown(t *testing.T) {
	const flux intent.Path = "cluster-providers/edge/clusters/flux/kv-pairs/dns-update-record-list"
	w := newWorld(t)
	s, other := w.store(), w.store()
	absent := func(s *documents.Store) {
		t.Helper()
		_, err := s.Get(t.Context(), flux)
		require.Equal(t, intent.NotFound, intent.CodeOf(err), err)
		docs, err := s.GetAll(t.Context(), []intent.Path{flux})
		require.NoError(t, err)
		require.Empty(t, docs)
	}
	unknown := func(s *documents.Store) {
		t.Helper()
		_, err := s.Get(t.Context(), flux)
		w.requireUnavailable(err, "CLM", "start it and repeat")
	}
	absent(s)
	w.fail(flux, http.StatusServiceUnavailable, "no healthy upstream")
	absent(s)
	require.NoError(t, s.Sweep(t.Context()))
	absent(s)
	unknown(other) // it has never asked

	w.fail(flux, 0, answers()[string(paris)+"/kv-pairs/dns-update-record-list"])
	w.get(other, flux)
	w.fail(flux, http.StatusServiceUnavailable, "no healthy upstream")
	unknown(s) // another replica has seen it, and may have released it

	w.fail(flux, 0, "")
	absent(s)
	w.fail(flux, http.StatusServiceUnavailable, "no healthy upstream")
	w.pass(documents.DefaultStale - 2*documents.DefaultFresh)
	absent(s)
	w.pass(2 * documents.DefaultFresh)
	unknown(s)
	require.NoError(t, s.Sweep(t.Context()))
	unknown(s)
}

// Whoever misses a document learns which service was asked.
func TestWhatIsMissingSaysWhereItIsCreated(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	for path, service := range map[intent.Path]string{
		"projects/none":                        "orchestrator",
		"projects/shop/logical-clouds/none":    "DCM",
		"cluster-providers/edge/clusters/none": "CLM",
		"cluster-providers/edge/clusters/x y":  "CLM",
		paris + "/kv-pairs/other":              "CLM",
	} {
		_, err := s.Get(t.Context(), path)
		require.Equal(t, intent.NotFound, intent.CodeOf(err))
		require.EqualError(t, err, string(path)+" does not exist in EMCO's "+service+" ("+w.server.URL+"); create it there")
	}
}

func TestAServiceThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	w.fail(eu, http.StatusServiceUnavailable, "no healthy upstream")
	for range 5 {
		_, err := s.Get(t.Context(), eu)
		w.requireUnavailable(err, "DCM", "503 Service Unavailable: no healthy upstream")
	}
	_, err := s.Get(t.Context(), "projects/shop/logical-clouds/us")
	w.requireUnavailable(err, "DCM")
	require.Equal(t, 2, w.requests(eu), "twice, then not for a while")
	require.Zero(t, w.requests("projects/shop/logical-clouds/us"))
	w.get(s, shop) // another service

	w.fail(eu, 0, answers()[string(eu)])
	w.get(s, eu)
}

// TestASlowServiceIsNotWaitedForLong: two attempts take four seconds.
func TestASlowServiceIsNotWaitedForLong(t *testing.T) {
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		hangs := false
		s := w.store(func(o *documents.Options) {
			o.Client = &http.Client{Transport: answering(func(r *http.Request) (*http.Response, error) {
				if hangs {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				answer := httptest.NewRecorder()
				w.serve(answer, r)
				return answer.Result(), nil
			})}
		})
		known := w.get(s, eu)
		hangs = true
		w.pass(documents.DefaultFresh)
		began := time.Now()
		require.Equal(t, known, w.get(s, eu))
		require.LessOrEqual(t, time.Since(began), 5*time.Second)
		began = time.Now()
		_, err := s.Get(t.Context(), shop)
		w.requireUnavailable(err, "orchestrator", "does not answer")
		require.LessOrEqual(t, time.Since(began), 5*time.Second)
	})
}

// answering is a server without a network.
type answering func(r *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func TestAnswersThatAreNoneAreNamed(t *testing.T) {
	other := answers()["projects/Lab"]
	for _, c := range []struct {
		reason string
		path   intent.Path
		status int
		body   string
		asks   int
		says   []string
	}{
		{"an internal error is tried again", eu, 500, "The server encountered an internal error\nand more", 2, []string{"500 Internal Server Error: The server encountered an internal error"}},
		{"so are too many requests", eu, 429, "", 2, []string{"429"}},
		{"a gateway that wants a token", eu, 403, "RBAC: access denied", 1, []string{"403 Forbidden: RBAC: access denied"}},
		{"a login page", eu, 302, "", 1, []string{"302 Found"}},
		{"several choices", eu, 300, "set Accept", 1, []string{"300 Multiple Choices: set Accept"}},
		{"a bad request", eu, 400, "Invalid", 1, []string{"400 Bad Request: Invalid"}},
		{"a page", eu, 200, "<html>", 1, []string{"with what is not its form"}},
		{"half a document", eu, 200, `{"metadata":{"na`, 1, []string{"with what is not its form"}},
		{"a list in the place of a document", eu, 200, `[]`, 1, []string{"with what is not its form"}},
		{"null", eu, 200, `null`, 1, []string{"without a name"}},
		{"nothing", eu, 200, ``, 1, []string{"with what is not its form"}},
		{"another document", shop, 200, other, 1, []string{"with another document: Lab"}},
		{"a name that leads elsewhere", shop, 200, `{"metadata":{"name":"../x"}}`, 1, []string{"without a name"}},
		{"a composite app without a version", "projects/shop/composite-apps/store/v1", 200, `{"metadata":{"name":"store"},"spec":{}}`, 1, []string{"without a version"}},
		{"more than can be", eu, 200, strings.Repeat(" ", 8<<20) + "{}", 1, []string{"with more than 8388608 bytes"}},
		{"more than can be, in few bytes", eu, 200, `{"x":[` + strings.Repeat("1,", 1<<15) + `1]}`, 1, []string{"with too much", "more than 32 MiB"}},
		{"labels that are none", paris + "/labels", 200, `["west"]`, 1, []string{"CLM", "with what is not its form"}},
		{"a long refusal", eu, 418, strings.Repeat("x", 1000), 1, []string{"418", strings.Repeat("x", 200) + "…"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := newWorld(t)
			s := w.store()
			w.fail(c.path, c.status, c.body)
			read := intent.Path(strings.TrimSuffix(string(c.path), "/labels"))
			_, err := s.Get(t.Context(), read)
			w.requireUnavailable(err, c.says...)
			require.Less(t, len(err.Error()), 600)
			require.Equal(t, c.asks, w.requests(c.path))
			w.fail(c.path, 0, answers()[string(c.path)])
			w.get(s, read)
		})
	}
}

func TestAnAnswerThatIsRefusedIsReplacedByTheLastGoodOne(t *testing.T) {
	w := newWorld(t)
	s := w.store()
	known := w.get(s, eu)
	w.fail(eu, 500, "oops")
	require.Equal(t, known, w.get(s, eu))
}

func TestNoPasswordIsShown(t *testing.T) {
	w := newWorld(t)
	s := w.store(func(o *documents.Options) {
		base, err := url.Parse(strings.Replace(w.server.URL, "http://", "http://me:s3cr3t@", 1))
		require.NoError(t, err)
		o.DCM = base
	})
	w.get(s, eu)
	w.server.Close()
	w.pass(documents.DefaultStale)
	_, err := s.Get(t.Context(), eu)
	require.ErrorContains(t, err, "EMCO's DCM (http://me:xxxxx@127.0.0.1")
	require.NotContains(t, err.Error(), "s3cr3t")
	require.Equal(t, 1, strings.Count(err.Error(), "http://"), "the URL is told once")
	require.NotContains(t, s.ExternallyManaged(eu).Error(), "s3cr3t")
}
