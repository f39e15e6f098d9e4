package app

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
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

// traceExport is where spans go.
type traceExport struct {
	tracer *tracing.Tracer // nil: nowhere
	close  func(context.Context) error
}

// openTracing has spans exported by OTLP over gRPC, if an endpoint is given. It
// does not wait for the endpoint, and neither does anybody who ends a span.
func openTracing(ctx context.Context, c Config, metrics prometheus.Registerer) (traceExport, error) {
	if c.OTLPEndpoint == "" {
		return traceExport{close: func(context.Context) error { return nil }}, nil
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(c.OTLPEndpoint), otlptracegrpc.WithTimeout(exportTimeout),
		otlptracegrpc.WithDialOption(grpc.WithMaxHeaderListSize(longestReply), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longestReply))))
	if err != nil {
		return traceExport{}, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	provider := newProvider(c, exporter, metrics)
	return traceExport{tracing.New(provider), provider.Shutdown}, nil
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
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "signpost"), attribute.String("service.version", c.Build.Version))),
		sdktrace.WithSpanProcessor(endedSpans{waiting, spans}),
	)
}

// end exports waiting spans, for a short time. Spans that cannot be exported are lost,
// which is counted and no reason to fail.
func (t traceExport) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
	defer cancel()
	_ = t.close(ctx)
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
	outcome := "exported"
	if err != nil {
		outcome = "failed"
	}
	s.spans.WithLabelValues(outcome).Add(float64(len(spans)))
	return err
}
