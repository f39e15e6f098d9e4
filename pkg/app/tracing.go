package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// checkTracing finds what cannot be right in how traces are exported.
func (t Telemetry) checkTracing() error {
	if t.TraceRatio < 0 || t.TraceRatio > 1 {
		return fmt.Errorf("--trace-ratio: %v is not between 0 and 1", t.TraceRatio)
	}
	if t.OTLPEndpoint == "" {
		return nil
	}
	at, err := url.Parse(t.OTLPEndpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return fmt.Errorf("--otlp-endpoint: %q is not of the form http://host:4317, or https://", t.OTLPEndpoint)
	}
	return nil
}

// Spans wait for their export in a queue; who finds it full is dropped.
const (
	spanQueue     = 4096
	exportTimeout = 5 * time.Second
	longestReply  = 64 << 10 // bytes of a collector's answer
)

// exports is where spans and changes of host names go.
type exports struct {
	tracer  *tracing.Tracer // nil: nowhere
	changes *slog.Logger    // nil: nowhere
	close   []func(context.Context) error
}

// openExports opens what is exported by OTLP over gRPC, if an endpoint is given. It does not
// wait for the endpoint, and neither does anybody who ends a span or changes a name.
func openExports(ctx context.Context, c Config, log *slog.Logger, metrics prometheus.Registerer) (exports, error) {
	var to exports
	if c.NameHistoryLog {
		to.changes = log
	}
	if c.OTLPEndpoint == "" {
		return to, nil
	}
	err := to.openTraces(ctx, c, metrics)
	if err == nil && c.NameHistoryLog {
		err = to.openChanges(ctx, c, metrics)
	}
	return to, err
}

func (e *exports) openTraces(ctx context.Context, c Config, metrics prometheus.Registerer) error {
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(c.OTLPEndpoint), otlptracegrpc.WithTimeout(exportTimeout), otlptracegrpc.WithDialOption(shortReplies()...))
	if err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	provider := newProvider(c, exporter, metrics)
	e.tracer, e.close = tracing.New(provider), append(e.close, provider.Shutdown)
	return nil
}

// shortReplies bounds what a collector may answer.
func shortReplies() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithMaxHeaderListSize(longestReply), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longestReply))}
}

// resource says whose spans and records they are.
func (c Config) resource() *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", "signpost"), attribute.String("service.version", c.Build.Version))
}

// newProvider has spans counted as they end, wait, and be counted as they are
// exported. Its Shutdown exports what waits.
func newProvider(c Config, exporter sdktrace.SpanExporter, metrics prometheus.Registerer) *sdktrace.TracerProvider {
	spans := promauto.With(metrics).NewCounterVec(
		prometheus.CounterOpts{Name: "signpost_trace_spans_total", Help: "Spans that have ended, and those of them that were exported, or could not be."},
		[]string{"outcome"})
	waiting := sdktrace.NewBatchSpanProcessor(exportedSpans{exporter, spans}, sdktrace.WithMaxQueueSize(spanQueue), sdktrace.WithExportTimeout(exportTimeout))
	return sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.TraceRatio))),
		sdktrace.WithResource(c.resource()),
		sdktrace.WithSpanProcessor(endedSpans{waiting, spans}),
	)
}

// end exports the spans and records that wait, for a short time. If they cannot be exported,
// they are lost and counted.
func (e *exports) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
	defer cancel()
	var closing sync.WaitGroup
	for _, closeOne := range e.close {
		closing.Go(func() { _ = closeOne(ctx) })
	}
	closing.Wait()
}

// endedSpans counts spans as they end.
type endedSpans struct {
	sdktrace.SpanProcessor
	spans *prometheus.CounterVec
}

func (s endedSpans) OnEnd(span sdktrace.ReadOnlySpan) {
	s.spans.WithLabelValues("ended").Inc()
	s.SpanProcessor.OnEnd(span)
}

// exportedSpans counts spans as they are exported.
type exportedSpans struct {
	sdktrace.SpanExporter
	spans *prometheus.CounterVec
}

func (s exportedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	countExport(s.spans, len(spans), err)
	return err
}

// countExport counts what was exported, or could not be.
func countExport(counter *prometheus.CounterVec, count int, err error) {
	outcome := "exported"
	if err != nil {
		outcome = "failed"
	}
	counter.WithLabelValues(outcome).Add(float64(count))
}

// Records of changed names wait for their export in a queue. A collector that is away is
// tried again for retryTime.
const (
	recordQueue = 4096
	retryTime   = time.Minute
)

// openChanges has changes of host names exported, beside the log.
func (e *exports) openChanges(ctx context.Context, c Config, metrics prometheus.Registerer) error {
	exporter, err := otlploggrpc.New(ctx, otlploggrpc.WithEndpointURL(c.OTLPEndpoint), otlploggrpc.WithTimeout(retryTime), otlploggrpc.WithDialOption(shortReplies()...))
	if err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	provider := newRecordProvider(c, exporter, metrics)
	records := otelslog.NewHandler("github.com/signpost-dns/signpost/names", otelslog.WithLoggerProvider(provider))
	e.changes, e.close = slog.New(slog.NewMultiHandler(e.changes.Handler(), records)), append(e.close, provider.Shutdown)
	return nil
}

// newRecordProvider has records counted as they are made, wait, and be counted as they
// are exported. Its Shutdown exports the records that wait.
func newRecordProvider(c Config, exporter sdklog.Exporter, metrics prometheus.Registerer) *sdklog.LoggerProvider {
	records := promauto.With(metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_name_history_records_total", Help: "Records of changed host names that were made for OTLP, and those of them that were exported, or could not be.",
	}, []string{"outcome"})
	waiting := sdklog.NewBatchProcessor(exportedRecords{exporter, records}, sdklog.WithMaxQueueSize(recordQueue), sdklog.WithExportTimeout(retryTime))
	return sdklog.NewLoggerProvider(sdklog.WithResource(c.resource()), sdklog.WithProcessor(madeRecords{waiting, records}))
}

// madeRecords counts records as they are made.
type madeRecords struct {
	sdklog.Processor
	records *prometheus.CounterVec
}

func (r madeRecords) OnEmit(ctx context.Context, record *sdklog.Record) error {
	r.records.WithLabelValues("made").Inc()
	return r.Processor.OnEmit(ctx, record)
}

// exportedRecords counts records as they are exported.
type exportedRecords struct {
	sdklog.Exporter
	records *prometheus.CounterVec
}

func (r exportedRecords) Export(ctx context.Context, records []sdklog.Record) error {
	err := r.Exporter.Export(ctx, records)
	countExport(r.records, len(records), err)
	return err
}
