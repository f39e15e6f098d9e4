package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

const (
	text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	id   = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// TestATraceGoesOnWhereItsTextIsFollowed: in another context, as in another
// process, under the same id.
func TestATraceGoesOnWhereItsTextIsFollowed(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	here, end := tracer.Start(tracing.Follow(t.Context(), text), "POST", "requestID", "r1")
	stored := tracing.Parent(here)
	end(nil)
	there, end := tracer.Start(tracing.Follow(t.Context(), stored), "apply")
	require.Equal(t, id, tracing.TraceID(there))
	end(errors.New("refused"))

	got := spans.GetSpans()
	require.Len(t, got, 2)
	post, apply := got[0], got[1]
	require.Equal(t, id, post.SpanContext.TraceID().String())
	require.Equal(t, id, apply.SpanContext.TraceID().String())
	require.Equal(t, "00f067aa0ba902b7", post.Parent.SpanID().String())
	require.Equal(t, post.SpanContext.SpanID(), apply.Parent.SpanID())
	require.Equal(t, "requestID", string(post.Attributes[0].Key))
	require.Equal(t, "r1", post.Attributes[0].Value.AsString())
	require.Equal(t, codes.Unset, post.Status.Code)
	require.Equal(t, codes.Error, apply.Status.Code)
	require.Equal(t, "refused", apply.Status.Description)
}

// TestWithoutATracerATraceIsPassedOn: as its caller has sent it, and none begins.
func TestWithoutATracerATraceIsPassedOn(t *testing.T) {
	var none *tracing.Tracer
	ctx, end := none.Start(t.Context(), "POST")
	end(nil)
	require.Empty(t, tracing.Parent(ctx))
	require.Empty(t, tracing.TraceID(ctx))
	ctx, end = none.Start(tracing.Follow(t.Context(), text), "POST")
	end(errors.New("refused"))
	require.Equal(t, text, tracing.Parent(ctx))
	require.Equal(t, id, tracing.TraceID(ctx))
}

func TestWhatIsNoTraceparentIsNotFollowed(t *testing.T) {
	for _, given := range []string{"", "x", strings.Replace(text, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1), text + "-x", strings.ToUpper(text)} {
		require.Empty(t, tracing.Parent(tracing.Follow(t.Context(), given)), given)
		require.Equal(t, text, tracing.Parent(tracing.Follow(tracing.Follow(t.Context(), text), given)), "the trace of before stays: %s", given)
	}
}

// TestLinesSayWhatTheyBelongTo: by their context alone, once each.
func TestLinesSayWhatTheyBelongTo(t *testing.T) {
	for _, c := range []struct {
		reason string
		ctx    func(context.Context) context.Context
		line   string
	}{
		{"nothing is known", func(ctx context.Context) context.Context { return ctx }, "msg=hello own=1\n"},
		{"a mark", func(ctx context.Context) context.Context { return tracing.With(ctx, "requestID", "r1") }, "msg=hello own=1 requestID=r1\n"},
		{"none", func(ctx context.Context) context.Context { return tracing.With(ctx, "requestID", "") }, "msg=hello own=1\n"},
		{"a trace", func(ctx context.Context) context.Context { return tracing.Follow(ctx, text) }, "msg=hello own=1 trace=" + id + "\n"},
		{"all", func(ctx context.Context) context.Context {
			return tracing.With(tracing.Follow(tracing.With(ctx, "requestID", "r1"), text), "contextID", "17")
		}, "msg=hello own=1 requestID=r1 contextID=17 trace=" + id + "\n"},
		{"the inner one", func(ctx context.Context) context.Context {
			return tracing.With(tracing.With(tracing.With(ctx, "contextID", "16"), "requestID", "r1"), "contextID", "17")
		}, "msg=hello own=1 requestID=r1 contextID=17\n"},
	} {
		var out bytes.Buffer
		log := slog.New(tracing.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: timeless})))
		log.InfoContext(c.ctx(t.Context()), "hello", "own", 1)
		require.Equal(t, c.line, out.String(), c.reason)
		out.Reset()
		log.With("cluster", "edge+hub").WithGroup("g").InfoContext(tracing.With(t.Context(), "requestID", "r1"), "hello")
		require.Equal(t, "msg=hello cluster=edge+hub g.requestID=r1\n", out.String())
	}
}

// TestMarksOfOneContextAreNotThoseOfAnother: what two make of one context.
func TestMarksOfOneContextAreNotThoseOfAnother(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(tracing.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: timeless})))
	outer := tracing.With(tracing.With(tracing.With(t.Context(), "a", "1"), "b", "1"), "c", "1")
	first, second := tracing.With(outer, "d", "1"), tracing.With(outer, "d", "2")
	log.InfoContext(first, "x")
	log.InfoContext(second, "x")
	log.InfoContext(outer, "x")
	require.Equal(t, "msg=x a=1 b=1 c=1 d=1\nmsg=x a=1 b=1 c=1 d=2\nmsg=x a=1 b=1 c=1\n", out.String())
}

// timeless leaves out what differs from line to line.
func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

func FuzzFollow(f *testing.F) {
	f.Add(text)
	f.Add("00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01")
	f.Add("\x00-")
	f.Fuzz(func(t *testing.T, given string) {
		ctx := tracing.Follow(t.Context(), given)
		parent := tracing.Parent(ctx)
		require.Equal(t, parent, tracing.Parent(tracing.Follow(t.Context(), parent)), "what is passed on is followed alike")
		require.Equal(t, parent != "", tracing.TraceID(ctx) != "")
	})
}
