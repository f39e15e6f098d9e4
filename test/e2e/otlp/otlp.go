// Package otlp is a collector of traces for tests.
package otlp

import (
	"context"
	"encoding/hex"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

// Receiver takes spans by OTLP over gRPC, as a collector does. It is safe for
// concurrent use.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	// URL is where spans are to be exported to.
	URL string

	mu    sync.Mutex
	spans map[string][]string // names, by trace
	texts []byte
}

// Start starts a receiver, which ends with the test.
func Start(t *testing.T) *Receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &Receiver{URL: "http://" + listener.Addr().String(), spans: map[string][]string{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return r
}

// Export implements collector.TraceServiceServer.
func (r *Receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	text, err := protojson.Marshal(request)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(append(r.texts, text...), '\n')
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				id := hex.EncodeToString(span.GetTraceId())
				r.spans[id] = append(r.spans[id], span.GetName())
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// Of are the names of the spans of a trace that were received.
func (r *Receiver) Of(trace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans[trace])
}

// Received is all that was received, a line of JSON for each export.
func (r *Receiver) Received() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts)
}
