package noderesolver_test

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/noderesolver"
)

// TestEntriesStayWhileNobodyAnswers checks a node whose cluster DNS is gone: the
// hosts that it knows are all that it has.
func TestEntriesStayWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	gone, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	require.NoError(t, err)
	nameserver, err := netip.ParseAddrPort(gone.LocalAddr().String())
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	path := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(path, []byte(strangers+registry4+registry6), 0o600))
	resolver := noderesolver.Resolver{
		File: noderesolver.File{Path: path}, Services: []noderesolver.Service{{Namespace: "images", Name: "registry"}},
		Domain: "cluster.local", Nameserver: nameserver, Log: slog.New(slog.DiscardHandler),
	}
	require.NoError(t, resolver.Once(t.Context()))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strangers+registry4+registry6, string(after))
}
