package syncer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

const (
	asking   = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	askingID = "4bf92f3577b34da6a3ce929d0e0e4736"
	again    = "00-aaaabbbbccccdddd0000111122223333-00f067aa0ba902b7-01"
	againID  = "aaaabbbbccccdddd0000111122223333"
)

// commitWithin makes objects current within a trace.
func (s *scene) commitWithin(traceparent, owner string, objects ...bundle.Object) string {
	s.t.Helper()
	ctx := tracing.Follow(s.t.Context(), traceparent)
	was, err := s.contexts.Current(ctx, appcontext.Owner(owner))
	require.NoError(s.t, err)
	c := appcontext.Context{}
	if len(objects) > 0 {
		c.ID = appcontext.NewID()
		c.Objects, err = bundle.Collect(objects)
		require.NoError(s.t, err)
	}
	_, err = s.contexts.Commit(ctx, was, c)
	require.NoError(s.t, err)
	return c.ID
}

// spansOf are the traces of the spans, by what was done: "create ConfigMap".
func spansOf(spans *tracetest.InMemoryExporter) map[string]string {
	found := map[string]string{}
	for _, span := range spans.GetSpans() {
		found[span.Name] = span.SpanContext.TraceID().String()
	}
	return found
}

// TestWhatIsDoneInAClusterIsOfTheTraceThatItFollowsFrom: each object's of the
// commit that has made, changed or taken it away; a repair's of a trace of its
// own. Lines of the log say so, too.
func TestWhatIsDoneInAClusterIsOfTheTraceThatItFollowsFrom(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	spans := tracetest.NewInMemoryExporter()
	s.tracer = tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	shop, first, second := namespace(t, hub), config(t, hub, "a", "1"), config(t, hub, "b", "1")
	id := s.commitWithin(asking, "dig", shop, first, second)
	w, _ := s.start("a")
	s.settled(w, shop, first, second)
	require.Equal(t, map[string]string{"create Namespace": askingID, "create ConfigMap": askingID}, spansOf(spans))
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "object applied") {
			require.Contains(t, line, "contextID="+id+" trace="+askingID)
		}
	}

	spans.Reset()
	second = config(t, hub, "b", "2")
	s.commitWithin(again, "dig", shop, first, second)
	s.settled(w, shop, first, second)
	require.Equal(t, map[string]string{"apply ConfigMap": againID}, spansOf(spans), "what has not changed is not touched")

	spans.Reset()
	s.clusters[hub].Remove(first.ID)
	s.until("it is made again", func() bool { return s.clusters[hub].Live(first.ID) != nil && len(spans.GetSpans()) > 0 })
	repaired := spansOf(spans)["create ConfigMap"]
	require.NotEmpty(t, repaired)
	require.NotContains(t, []string{askingID, againID}, repaired)
	s.settled(w, shop, first, second)

	spans.Reset()
	s.commitWithin(asking, "dig")
	s.until("it is gone", func() bool { return len(s.entries(hub)) == 0 })
	require.Equal(t, askingID, spansOf(spans)["remove ConfigMap"])
}
