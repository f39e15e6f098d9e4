package cli

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	isReady  = `{"status":"ready","checks":[{"name":"etcd","ok":true,"message":""}]}`
	notReady = `{"status":"unready","checks":[{"name":"etcd","ok":false,"message":"does not answer"},{"name":"mongodb","ok":true,"message":""}]}`
)

func TestReadyAsksTheServer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /readyz", 200, "Readiness", isReady)
	require.Equal(t, result{exitDone, "ready\n", ""}, signpost(t, f.url, "ready"))
}

func TestReadySaysWhatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /readyz", 503, "Readiness", notReady)
	require.Equal(t, result{exitUnreachable, "", "signpost ready: not ready: etcd does not answer\n"}, signpost(t, f.url, "ready"))
}

func TestReadyWaits(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 4 {
		f.on("GET /readyz", 503, "Readiness", notReady)
	}
	f.on("GET /readyz", 200, "Readiness", isReady)
	require.Equal(t, result{exitDone, "ready\n", ""}, signpost(t, f.url, "ready", "--wait", "1m"))
}

func TestReadyWaitsInVain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /readyz", 503, "Readiness", notReady)
	got := signpost(t, f.url, "ready", "--wait", "50ms")
	require.Equal(t, result{exitTimeout, "", "signpost ready: not ready after 50ms: not ready: etcd does not answer\n"}, got)
}

func TestReadyWithoutAServer(t *testing.T) {
	t.Parallel()
	got := signpost(t, "http://127.0.0.1:1", "ready")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "cannot be reached")
}

func TestReadyCanBeInterrupted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /readyz", 503, "Readiness", notReady)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitFailed, withInput(ctx, f.url, "", "ready", "--wait", "1m").code)
}
