package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

// The order of the end is API, workers, leases, stores.

// TestARequestUnderWayIsFinishedBeforeTheWorkersEnd: it is acknowledged, and
// what it wrote is there after the next start.
func TestARequestUnderWayIsFinishedBeforeTheWorkersEnd(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	s := serve(t, t.TempDir(), external)
	require.Eventually(t, func() bool { return members(t, store) == 1 }, patience, time.Millisecond)
	request := begin(t, s.http, `{"metadata":{"name":"shop"}}`)

	s.end()
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", s.http)
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, patience, time.Millisecond, "nothing new is accepted")
	require.Never(t, func() bool { return members(t, store) != 1 }, 250*time.Millisecond, 10*time.Millisecond, "the worker works on")

	require.Equal(t, http.StatusCreated, request.finish())
	s.stop()
	require.Zero(t, members(t, store), "leases are given back, so that another replica takes over at once")

	code, _ := serve(t, t.TempDir(), external).get("/v2/projects/shop")
	require.Equal(t, http.StatusOK, code)
}

// externalEtcd is an etcd that outlives the servers on it, and what makes a
// server use it.
func externalEtcd(t *testing.T) (kv.KV, func(c *Config)) {
	server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{
		Dir: t.TempDir(), ListenClients: true, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	key := filepath.Join(t.TempDir(), "secret.key")
	_, err = seal.GenerateKeyFile(key)
	require.NoError(t, err)
	return server.KV(), func(c *Config) { c.EtcdEndpoints, c.SecretKeyFile = []string{server.ClientURL()}, key }
}

// members counts the workers that are registered.
func members(t *testing.T, store kv.KV) int {
	found, _, err := store.Range(t.Context(), kv.Range{Prefix: "/signpost/members/"})
	require.NoError(t, err)
	return len(found)
}

// half is a request of which the server has the beginning.
type half struct {
	t          *testing.T
	connection net.Conn
	rest       string
}

// begin sends the first byte of a project's document.
func begin(t *testing.T, address, body string) half {
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST /v2/projects HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", address, len(body))
	require.NoError(t, err)
	// The server asks for the body once it has the request in hand.
	line, err := bufio.NewReaderSize(io.LimitReader(connection, int64(len("HTTP/1.1 100 Continue\r\n\r\n"))), 16).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = connection.Write([]byte(body[:1]))
	require.NoError(t, err)
	return half{t, connection, body[1:]}
}

// finish sends the rest and answers the status.
func (h half) finish() int {
	_, err := h.connection.Write([]byte(h.rest))
	require.NoError(h.t, err)
	answer, err := http.ReadResponse(bufio.NewReader(h.connection), nil)
	require.NoError(h.t, err)
	require.NoError(h.t, answer.Body.Close())
	return answer.StatusCode
}

// TestARequestThatDoesNotEndIsCutOff: the end has a deadline, and is clean.
func TestARequestThatDoesNotEndIsCutOff(t *testing.T) {
	t.Parallel()
	under := make(chan struct{})
	e := &edge{grpc: grpc.NewServer(), health: health.NewServer(), drain: 50 * time.Millisecond}
	e.http = &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(under)
		<-r.Context().Done()
	})}
	l, err := listen(fits())
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.serve(ctx, l) }()
	answered := make(chan error, 1)
	go func() {
		answer, err := http.Get("http://" + l.http.Addr().String())
		if err == nil {
			_ = answer.Body.Close()
		}
		answered <- err
	}()
	<-under
	(&server{t: t, end: end, ended: ended}).stop()
	require.Error(t, <-answered, "the client sees that the answer is missing")
}

// TestADataDirectoryHasOneServer: a second one ends at once and says why, and
// the first one's data is unharmed.
func TestADataDirectoryHasOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serve(t, dir)
	second := fits()
	second.DataDir = dir
	err := Run(t.Context(), second)
	require.ErrorContains(t, err, "--data-dir")
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "in use by another server")
	require.Equal(t, http.StatusCreated, begin(t, first.http, `{"metadata":{"name":"shop"}}`).finish())
	first.stop()
	code, body := serve(t, dir).get("/v2/projects/shop")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, `"shop"`)
}

// TestTheDataDirectoryHoldsWhatTheManualSays: etcd's files, and the key.
func TestTheDataDirectoryHoldsWhatTheManualSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serve(t, dir).stop()
	require.DirExists(t, filepath.Join(dir, "etcd", "member"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.Equal(t, "etcd secret.key", strings.Join(names, " "))
}
