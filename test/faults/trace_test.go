package faults

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// receiver takes spans by OTLP, as a collector does.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	address string

	mu    sync.Mutex
	spans map[string][]string // names, by trace
}

// Export implements collector.TraceServiceServer.
func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// of are the names of the spans of a trace that were received.
func (r *receiver) of(trace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans[trace])
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &receiver{address: "http://" + listener.Addr().String(), spans: map[string][]string{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return r
}

// TestOneTraceFromThePOSTToTheCluster: the caller's, though the process that has
// accepted the request dies before the first object is there, and another one
// does the work: in what the API server is sent, and in the spans that are
// exported.
func TestOneTraceFromThePOSTToTheCluster(t *testing.T) {
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	w := newWorld(t)
	spans := newReceiver(t)
	w.signpost = newSignpost(t, w.dir, "--otlp-endpoint="+spans.address)
	require.NoError(t, w.signpost.Start(t.Context()))
	w.intents(w.kubeconfig(), `{"name": "web"}`, oldHost)
	killed := w.tap.Strike("hub", 0, Before, w.server().kill)

	base, err := w.signpost.URL()
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+group+"/instantiate", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("traceparent", "00-"+trace+"-"+parent+"-01")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusAccepted, answer.StatusCode)
	select {
	case <-killed:
	case <-t.Context().Done():
	}
	w.tap.Count()
	w.server().revive()
	w.eventually("the group to be instantiated", func() error { return w.is("Instantiated") })

	writes := w.tap.Writes("hub")
	require.NotEmpty(t, writes)
	for _, write := range writes {
		require.Contains(t, write.Trace, "00-"+trace+"-", write.What)
	}
	w.eventually("the spans to be exported", func() error {
		names := strings.Join(spans.of(trace), ", ")
		if !strings.Contains(names, "create DNSEndpoint") || !strings.Contains(names, "create Deployment") {
			return errors.New("there are " + names)
		}
		return nil
	})
}

// TestACollectorThatIsAwayHoldsNobodyUp: requests are answered, objects are
// made, and the process ends in time.
func TestACollectorThatIsAwayHoldsNobodyUp(t *testing.T) {
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // and never answers
	require.NoError(t, err)
	defer func() { _ = hangs.Close() }()
	s := &service{T: t, signpost: newSignpost(t, t.TempDir(), "--otlp-endpoint=http://"+hangs.Addr().String())}
	require.NoError(t, s.signpost.Start(t.Context()))
	s.intents(`{"directory": "hub"}`, `{"name": "web"}`, oldHost)
	s.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	s.eventually("the group to be instantiated", func() error { return s.is("Instantiated") })
	require.NoError(t, s.signpost.Stop(patience))
}
