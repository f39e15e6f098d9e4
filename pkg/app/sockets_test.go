package app

import (
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// TestHalfOpenConnectionsKeepNobodyOut: users are answered, by connections of
// theirs too, and few of the half-open ones stay.
func TestHalfOpenConnectionsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	const most, flood = 64, 100
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("a,anna,operator\n"), 0o600))
	s := serve(t, t.TempDir(), func(c *Config) { c.MaxConnections, c.TokenFile = most, tokens })
	client := &http.Client{Transport: &http.Transport{}}
	orchestrator, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer orchestrator.Close()

	status, _, _ := s.getBy(client, "/v2/projects")
	require.Equal(t, http.StatusOK, status)
	s.call(orchestrator)
	for range flood {
		halfOpen(t, s.http, "GET /v2/projects HTTP/1.1\r\nHost: x\r\n")
		halfOpen(t, s.grpc, "PRI * HTTP/2.0\r\n")
	}
	status, _, same := s.getBy(client, "/v2/projects")
	require.Equal(t, http.StatusOK, status)
	require.True(t, same, "a connection that is known stays")
	s.call(orchestrator)
	require.Eventually(t, func() bool {
		_, metrics, _ := s.getBy(client, "/metrics")
		return strings.Contains(metrics, `signpost_connections{listener="grpc"} 3`) && strings.Contains(metrics, `signpost_connections{listener="rest"} 17`)
	}, patience, 10*time.Millisecond, "a quarter of them, and those that are known")
	status, _, _ = s.getBy(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "/v2/projects")
	require.Equal(t, http.StatusOK, status, "and a new one finds room")
}

// halfOpen is a connection that never asks for anything.
func halfOpen(t *testing.T, address, begins string) {
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, _ = io.WriteString(connection, begins) // it may have been ended already
}

// getBy asks as anna, and tells whether that was by a connection that was there
// before.
func (s *server) getBy(client *http.Client, path string) (status int, body string, same bool) {
	ctx := httptrace.WithClientTrace(s.t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { same = got.Reused }})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+path, http.NoBody)
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer a")
	answer, err := client.Do(request)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return answer.StatusCode, string(raw), same
}

// call makes a call that is refused for what it asks, and not for who asks.
func (s *server) call(connection *grpc.ClientConn) {
	ctx := metadata.AppendToOutgoingContext(s.t.Context(), "authorization", "Bearer a")
	_, err := emcopb.NewContextupdateClient(connection).TerminateAppContext(ctx, &emcopb.TerminateRequest{AppContext: "none"})
	require.ErrorContains(s.t, err, "app_context")
}

// TestTheDescriptorsLeaveRoomForTheStores: without any, etcd ends the process.
func TestTheDescriptorsLeaveRoomForTheStores(t *testing.T) {
	t.Parallel()
	all := throttle.Descriptors()
	require.Positive(t, all)
	require.Equal(t, all/4, Config{}.maxConnections())
	require.Equal(t, all/4, Config{Limits: Limits{MaxConnections: 10 * all}}.maxConnections())
	require.Equal(t, 5, Config{Limits: Limits{MaxConnections: 5}}.maxConnections())
}
