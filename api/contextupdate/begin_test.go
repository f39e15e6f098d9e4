package contextupdate

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

const watchMethod = "/grpc.health.v1.Health/Watch"

// halves sends so many calls of which half of the message is missing.
func halves(t *testing.T, connection net.Conn, method string, calls int) *http2.Framer {
	t.Helper()
	var out, header bytes.Buffer
	_, _ = out.WriteString(http2.ClientPreface)
	framer, encoder := http2.NewFramer(&out, connection), hpack.NewEncoder(&header)
	require.NoError(t, framer.WriteSettings())
	for n := range uint32(calls) {
		header.Reset()
		for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
			require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*n + 1, BlockFragment: header.Bytes(), EndHeaders: true}))
		require.NoError(t, framer.WriteData(2*n+1, false, []byte{0, 0, 0, 0, 2, 'x'}))
	}
	_, err := connection.Write(out.Bytes())
	require.NoError(t, err)
	return framer
}

// TestHalfAMessageIsNotWaitedForForever: neither for one of a call nor for that of a
// stream; what has arrived may take as long as it does.
func TestHalfAMessageIsNotWaitedForForever(t *testing.T) {
	t.Parallel()
	for _, method := range []string{emcopb.Contextupdate_UpdateAppContext_FullMethodName, watchMethod} {
		synctest.Test(t, func(t *testing.T) {
			listener := bufconn.Listen(1 << 16)
			serve(t, listener)
			connection, err := listener.DialContext(t.Context())
			require.NoError(t, err)
			defer connection.Close()
			began := time.Now()
			framer := halves(t, connection, method, 1)
			ended := func(f http2.Frame) bool {
				headers, ok := f.(*http2.HeadersFrame)
				return ok && headers.StreamEnded()
			}
			for f, err := framer.ReadFrame(); !ended(f); f, err = framer.ReadFrame() {
				require.NoError(t, err)
			}
			require.Equal(t, receiving, time.Since(began), method)
		})
	}
	inABubble(t, func(t *testing.T, w *world) {
		w.domain.answer = func(context.Context) ([]string, error) {
			time.Sleep(2 * receiving)
			return nil, nil
		}
		_, err := w.client().UpdateAppContext(t.Context(), update("1"))
		require.NoError(t, err)
		watch, err := grpc_health_v1.NewHealthClient(w.dial()).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		require.NoError(t, err)
		_, err = watch.Recv()
		require.NoError(t, err)
		time.Sleep(10 * receiving)
		require.NoError(t, watch.Context().Err())
	}, func(o *Options) { o.Patience = time.Minute })
}

// TestStreamsOfStrangersAreFew: of all their connections together.
func TestStreamsOfStrangersAreFew(t *testing.T) {
	t.Parallel()
	connections := throttle.NewConnections(40, 20, func(string) {})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := serve(t, connections.Limit(listener), func(o *Options) { o.Connections = connections })
	for range 10 {
		connection, err := net.Dial("tcp", w.address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		halves(t, connection, watchMethod, 10)
		go func() { _, _ = io.Copy(io.Discard, connection) }()
	}
	client := w.client()
	require.Eventually(t, func() bool {
		_, err := client.UpdateAppContext(t.Context(), update("1"))
		require.NoError(t, err)
		return connections.Len() <= 3 // two of ten streams each, and the one that is known
	}, patience, time.Millisecond)
}
