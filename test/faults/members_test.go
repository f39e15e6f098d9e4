package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// bound is how long an answer may take at the most, whatever etcd does. The
// manual says ten seconds; the rest is for a busy machine.
const bound = 14 * time.Second

// deployed is the app with its manifest: nobody else deploys into a directory.
const deployed = `{"name": "web", "manifests": [{
	"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
	"spec": {"type": "LoadBalancer", "loadBalancerIP": "` + address + `", "selector": {"app": "web"}, "ports": [{"port": 443}]}
}]}`

// TestThreeEtcdMembersOneStoppedThenAnother: with two of three, reads and writes
// go on. With one of three both answer 503 within a bound, and the server is
// alive and unready. It goes on by itself when members come back, and nothing
// that was acknowledged is lost.
func TestThreeEtcdMembersOneStoppedThenAnother(t *testing.T) {
	dir := t.TempDir()
	members := startMembers(t, filepath.Join(dir, "etcd"))
	s := &service{T: t, signpost: newSignpost(t, dir, "--etcd-endpoints="+members[0].URL+","+members[1].URL+","+members[2].URL)}
	require.NoError(t, s.signpost.Start(t.Context()))
	s.intents(`{"directory": "hub"}`, deployed, oldHost)
	w := write(t, s.signpost)
	w.goesOn()

	members[0].Kill()
	w.goesOn()
	s.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	s.eventually("the group to be instantiated", func() error { return s.is("Instantiated") })

	members[1].Kill()
	s.eventually("writes to be refused", func() error { return s.refused(http.MethodPut, "/v2/projects/refused") })
	require.NoError(t, s.refused(http.MethodGet, "/v2/projects/shop"), "a read that may be stale is none")
	require.NoError(t, s.refused(http.MethodPost, group+"/terminate"))
	s.call(http.MethodGet, "/healthz", "", http.StatusOK)
	s.call(http.MethodGet, "/readyz", "", http.StatusServiceUnavailable)

	require.NoError(t, members[1].Start(t.Context()))
	w.goesOn()
	s.eventually("the server to be ready", func() error { return s.ready() })
	s.rename(newHost)
	s.call(http.MethodPost, group+"/update", "", http.StatusAccepted)
	s.eventually("the group to be updated", func() error { return s.is("Instantiated") })

	require.NoError(t, members[0].Start(t.Context()))
	require.NoError(t, syscall.Kill(members[2].PID(), syscall.SIGSTOP))
	w.goesOn()
	require.NoError(t, syscall.Kill(members[2].PID(), syscall.SIGCONT))
	w.goesOn()

	s.posted = append(s.posted, w.end()...)
	t.Logf("%d writes were acknowledged, %d refused; the slowest answer took %s", len(w.acknowledged), w.refusals, w.slowest)
	s.allPosted()
	require.NoError(t, s.signpost.Stop(patience))
}

func startMembers(t *testing.T, dir string) []*etcd.Server {
	t.Helper()
	members, err := etcd.NewMembers(t.Context(), 3, dir, &process.Ports{})
	require.NoError(t, err)
	started := make(chan error, len(members))
	for _, member := range members {
		t.Cleanup(member.Kill)
		go func() { started <- member.Start(t.Context()) }()
	}
	for range members {
		require.NoError(t, <-started)
	}
	return members
}

// refused expects a call to be answered 503 in time, as documented.
func (s *service) refused(method, path string) error {
	began := time.Now()
	body := ""
	if method == http.MethodPut {
		body = document(filepath.Base(path), `{}`)
	}
	answer, err := s.signpost.Do(s.Context(), method, path, body)
	if err != nil {
		return err
	}
	var problem struct {
		Status    int
		RequestID string
	}
	if err := json.Unmarshal(answer.Body, &problem); err != nil {
		return fmt.Errorf("%s: %w: %s", answer.Call, err, answer.Body)
	}
	switch took := time.Since(began); {
	case answer.Status != http.StatusServiceUnavailable || problem.Status != answer.Status || problem.RequestID == "":
		return answer.Unexpected(http.StatusServiceUnavailable)
	case answer.Header.Get("Content-Type") != "application/problem+json" || answer.Header.Get("Retry-After") == "":
		return fmt.Errorf("%s: header is %v", answer.Call, answer.Header)
	case took > bound:
		return fmt.Errorf("%s: it took %s", answer.Call, took)
	}
	return nil
}

func (s *service) ready() error { return s.signpost.IsReady(s.Context()) }

// writer makes projects, one after the other, as a client does that tries again
// after 503.
type writer struct {
	*testing.T

	signpost *fixture.Signpost
	stop     context.CancelFunc
	ended    chan struct{}

	mu           sync.Mutex
	acknowledged []string // paths
	refusals     int
	slowest      time.Duration
	wrong        error
}

func write(t *testing.T, signpost *fixture.Signpost) *writer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{T: t, signpost: signpost, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		for n := 0; ctx.Err() == nil && w.err() == nil; n++ {
			w.make(ctx, fmt.Sprintf("p%d", n))
		}
	}()
	t.Cleanup(func() { stop(); <-w.ended })
	return w
}

// make makes one project. A refusal leaves open whether it was made, so that
// the next attempt may find it.
func (w *writer) make(ctx context.Context, name string) {
	for tried := false; ctx.Err() == nil; tried = true {
		began := time.Now()
		answer, err := w.signpost.Do(context.WithoutCancel(ctx), http.MethodPost, "/v2/projects", document(name, `{}`))
		if w.note(answer, err, time.Since(began), tried) {
			return
		}
	}
}

func (w *writer) note(answer fixture.Answer, err error, took time.Duration, tried bool) (done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest = max(w.slowest, took)
	switch {
	case err != nil:
		w.wrong = err
	case took > bound:
		w.wrong = fmt.Errorf("%s: it took %s", answer.Call, took)
	case answer.Status == http.StatusCreated, answer.Status == http.StatusConflict && tried:
		path, _, _ := strings.Cut(answer.Header.Get("Location"), "?")
		if answer.Status == http.StatusCreated {
			w.acknowledged = append(w.acknowledged, path)
		}
		return true
	case answer.Status == http.StatusServiceUnavailable:
		w.refusals++
		return false
	default:
		w.wrong = answer.Unexpected(http.StatusCreated)
	}
	return true
}

func (w *writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acknowledged)
}

// goesOn waits until writes are acknowledged.
func (w *writer) goesOn() {
	w.Helper()
	const enough = 20
	before := w.count()
	require.Eventually(w, func() bool { return w.err() != nil || w.count() >= before+enough }, patience, 10*time.Millisecond,
		"writes do not go on")
	require.NoError(w, w.err())
}

// end ends the writing and answers what was acknowledged.
func (w *writer) end() []string {
	w.Helper()
	w.stop()
	<-w.ended
	require.NoError(w, w.err())
	return w.acknowledged
}
