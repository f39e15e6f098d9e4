package release_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// traced has the world's Service record spans, and answers them, and its log.
func (w *world) traced() (*tracetest.InMemoryExporter, *bytes.Buffer) {
	spans, log := tracetest.NewInMemoryExporter(), &bytes.Buffer{}
	w.options.Tracer = tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	w.options.Logger = slog.New(tracing.Handler(slog.NewTextHandler(log, nil)))
	w.service = release.New(w.options)
	return spans, log
}

// traces are the traces, by their ids, in which the contexts of owners were made
// current or changed last.
func (w *world) traces() map[appcontext.Owner]string {
	w.Helper()
	pointers, err := w.contexts.Below(w.Context(), "")
	require.NoError(w, err)
	ids := map[appcontext.Owner]string{}
	for _, p := range pointers {
		ids[p.Owner] = tracing.TraceID(tracing.Follow(w.Context(), p.Trail()))
	}
	return ids
}

const (
	asked   = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	askedID = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// TestWhatARequestLeadsToIsOfItsTrace: the contexts of the group and of its
// external-dns, also when another replica makes them, later. What follows from
// an address that changes is of a trace of its own.
func TestWhatARequestLeadsToIsOfItsTrace(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, log := w.traced()
	accepted, err := w.service.Instantiate(tracing.With(tracing.Follow(ann(prod), asked), "requestID", "r1"), prod, "", "ann")
	require.NoError(t, err)
	require.Contains(t, log.String(), "msg=accepted owner="+string(prod)+" action=instantiate revision=1 requestID=r1 contextID="+accepted.ContextID+" trace="+askedID)

	spans, _ := w.traced() // another replica
	w.settle(prod)
	traces := w.traces()
	require.Greater(t, len(traces), 1)
	for owner, id := range traces {
		require.Equal(t, askedID, id, owner)
	}
	require.NotEmpty(t, spans.GetSpans())
	for _, span := range spans.GetSpans() {
		require.Equal(t, "commit app context", span.Name)
		require.Equal(t, askedID, span.SpanContext.TraceID().String())
	}

	spans.Reset()
	w.observe(paris, "shop/web", "203.0.113.99")
	w.settle(prod)
	followed := w.traces()[appcontext.Owner(prod)]
	require.NotEmpty(t, followed)
	require.NotEqual(t, askedID, followed, "a request that was settled leads to nothing more")
	require.Equal(t, followed, spans.GetSpans()[0].SpanContext.TraceID().String())

	spans.Reset()
	w.observe(paris, "shop/web", "203.0.113.98")
	require.True(t, w.fold("shop/web").Wrote)
	require.Equal(t, "follow addresses", spans.GetSpans()[0].Name)
	require.Equal(t, w.traces()[appcontext.Owner(prod)], spans.GetSpans()[0].SpanContext.TraceID().String())
	require.NotEqual(t, followed, w.traces()[appcontext.Owner(prod)])

	spans.Reset()
	w.settle(prod)
	require.Empty(t, spans.GetSpans(), "where nothing is done there is nothing to tell")
}

// TestWithoutTracingOnlyTheCallersTraceIsKept: none begins here.
func TestWithoutTracingOnlyTheCallersTraceIsKept(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for owner, id := range w.traces() {
		require.Empty(t, id, owner)
	}
	_, err := w.service.Terminate(tracing.Follow(ann(prod), asked), prod, false, "", "ann")
	require.NoError(t, err)
	require.NoError(t, w.step(prod))
	require.Equal(t, askedID, w.traces()[appcontext.Owner(prod)])
}

// TestARecordsUpdateIsOfItsTrace: its external-dns are committed within it.
func TestARecordsUpdateIsOfItsTrace(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.traced()
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	_, err := w.service.UpdateRecord(tracing.Follow(ann(prod), asked), lab, "", "", "ann")
	require.NoError(t, err)
	require.NoError(t, w.step(lab))
	found := false
	for owner, id := range w.traces() {
		if owner != appcontext.Owner(prod) {
			require.Equal(t, askedID, id, owner)
			found = true
		}
	}
	require.True(t, found)
}
