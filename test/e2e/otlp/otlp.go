// Package otlp is a collector of traces and log records for tests.
package otlp

import (
	"context"
	"encoding/hex"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

// Record is a log record: its text and its attributes.
type Record struct {
	Text  string
	About map[string]any
}

// Receiver takes spans and records by OTLP over gRPC, as a collector does. It is safe for
// concurrent use.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	// URL is where spans are to be exported to.
	URL string

	mu      sync.Mutex
	spans   map[string][]string // names, by trace
	texts   []byte
	records []Record
}

// Start starts a receiver, which ends with the test.
func Start(t *testing.T) *Receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &Receiver{URL: "http://" + listener.Addr().String(), spans: map[string][]string{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	logs.RegisterLogsServiceServer(server, logService{receiver: r})
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

// logService is the part of a Receiver that takes records.
type logService struct {
	logs.UnimplementedLogsServiceServer

	receiver *Receiver
}

// Export implements logs.LogsServiceServer.
func (l logService) Export(_ context.Context, request *logs.ExportLogsServiceRequest) (*logs.ExportLogsServiceResponse, error) {
	l.receiver.mu.Lock()
	defer l.receiver.mu.Unlock()
	for _, resource := range request.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, record := range scope.GetLogRecords() {
				l.receiver.records = append(l.receiver.records, Record{record.GetBody().GetStringValue(), values(record.GetAttributes())})
			}
		}
	}
	return &logs.ExportLogsServiceResponse{}, nil
}

// values are attributes as plain values.
func values(attributes []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, attribute := range attributes {
		out[attribute.GetKey()] = plain(attribute.GetValue())
	}
	return out
}

func plain(value *common.AnyValue) any {
	switch value := value.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return value.StringValue
	case *common.AnyValue_IntValue:
		return value.IntValue
	case *common.AnyValue_DoubleValue:
		return value.DoubleValue
	case *common.AnyValue_KvlistValue:
		return values(value.KvlistValue.GetValues())
	case *common.AnyValue_ArrayValue:
		var list []any
		for _, item := range value.ArrayValue.GetValues() {
			list = append(list, plain(item))
		}
		return list
	}
	return nil
}

// Records are the log records that were received, in order.
func (r *Receiver) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
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
