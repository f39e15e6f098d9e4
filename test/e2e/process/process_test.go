package process_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

func TestStartWaitsUntilReady(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ready")
	p := shell(t, "touch "+marker+"; while :; do sleep 1; done")
	p.Ready = func(context.Context) error {
		_, err := os.Stat(marker)
		return err
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.Running() {
		t.Error("it does not run")
	}
	p.Kill()
	if p.Running() {
		t.Error("it runs after kill")
	}
	if err := p.Start(t.Context()); err != nil {
		t.Errorf("start again: %v", err)
	}
}

func TestAnURLThatIsNotOKIsNotReady(t *testing.T) {
	var well atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, "it serves")
	}))
	t.Cleanup(server.Close)
	ready := process.Answers(server.URL)
	if err := ready(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("error is %v", err)
	}
	well.Store(true)
	if err := ready(t.Context()); err != nil {
		t.Error(err)
	}
	if body, err := process.Get(t.Context(), server.URL); err != nil || body != "it serves" {
		t.Errorf("%q, error %v", body, err)
	}
}

func TestStartTellsHowTheProgramEnded(t *testing.T) {
	p := shell(t, "echo no such option; exit 3")
	p.Ready = func(context.Context) error { return errors.New("nobody listens") }
	err := p.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such option") {
		t.Errorf("error is %v", err)
	}
}

func TestStopIsPolite(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ready")
	p := shell(t, "trap 'echo bye; exit 0' TERM; touch "+marker+"; while :; do sleep 0.1; done")
	p.Ready = func(context.Context) error { _, err := os.Stat(marker); return err }
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(10 * time.Second); err != nil {
		t.Errorf("stop: %v", err)
	}
	if !strings.Contains(p.Tail(5), "bye") {
		t.Errorf("log is %s", p.Tail(5))
	}
}

func TestStopEndsWhatDoesNotListen(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ready")
	p := shell(t, "trap '' TERM; touch "+marker+"; while :; do sleep 0.1; done")
	p.Ready = func(context.Context) error { _, err := os.Stat(marker); return err }
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(50 * time.Millisecond); err == nil || p.Running() {
		t.Errorf("error is %v, running %t", err, p.Running())
	}
}

func TestDoneFollowsTheEnd(t *testing.T) {
	p := shell(t, "exit 0")
	if err := p.Launch(); err != nil {
		t.Fatal(err)
	}
	wait.For(t, time.Minute, "the end", func() error {
		if p.Running() {
			return errors.New("it runs")
		}
		return nil
	})
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestPortsAreGivenOnce(t *testing.T) {
	seen := map[int]bool{}
	for range 500 { // of 12,000, so that chance alone would give some twice
		port, err := new(process.Ports).Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d twice", port)
		}
		seen[port] = true
	}
}

// shell is a process that runs a script of bash, ended with the test.
func shell(t *testing.T, script string) *process.Process {
	p := &process.Process{
		Name: "script",
		Path: "/bin/bash",
		Args: []string{"-c", script},
		Log:  filepath.Join(t.TempDir(), "log"),
		Env:  []string{"PATH=" + os.Getenv("PATH")},
	}
	t.Cleanup(p.Kill)
	return p
}
