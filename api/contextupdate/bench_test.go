package contextupdate

import (
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// BenchmarkCall is what the edge costs, over loopback and without its log line.
func BenchmarkCall(b *testing.B) {
	server, err := New(Options{Contexts: &domain{}, Health: health.NewServer(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(b, err)
	defer connection.Close()
	client := emcopb.NewContextupdateClient(connection)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.UpdateAppContext(b.Context(), update("17")); err != nil {
			b.Fatal(err)
		}
	}
}
