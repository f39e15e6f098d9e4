// Package tracing follows a request from the API to the clusters. A trace continues at
// each place that stored its text, perhaps in another process and minutes later. Log
// lines name their trace.
//
// A trace's text is W3C's traceparent. Without a Tracer nothing is recorded, and a trace
// that somebody else has begun is passed on as it is.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope names Signpost's spans among those of others.
const scope = "github.com/signpost-dns/signpost"

// header is the name of traceparent in headers and metadata.
const header = "traceparent"

// Tracer begins spans. A nil one begins none.
type Tracer struct{ tracer trace.Tracer }

// New makes a Tracer whose spans go to provider.
func New(provider trace.TracerProvider) *Tracer { return &Tracer{provider.Tracer(scope)} }

// Start begins a span within the one of ctx, or within a new trace. The values about are
// pairs of an attribute's name and value. The caller calls end once, which ends the span.
// With an error the span has failed.
func (t *Tracer) Start(ctx context.Context, name string, about ...string) (within context.Context, end func(error)) {
	if t == nil {
		return ctx, func(error) {}
	}
	attributes := make([]attribute.KeyValue, 0, len(about)/2)
	for i := 0; i+1 < len(about); i += 2 {
		attributes = append(attributes, attribute.String(about[i], about[i+1]))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// Follow has what is done within the answered context belong to a trace by its
// text. A text that is empty or no traceparent changes nothing.
func Follow(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}

// Parent is the text by which others follow what is done within ctx; empty
// where that belongs to no trace.
func Parent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// TraceID names the trace that ctx belongs to; empty for none.
func TraceID(ctx context.Context) string {
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		return id.String()
	}
	return ""
}
