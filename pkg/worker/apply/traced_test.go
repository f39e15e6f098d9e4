package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// TestWhatNeverSucceedsDoesNotMakeATraceEndless: attempts beyond the first ones
// are not told.
func TestWhatNeverSucceedsDoesNotMakeATraceEndless(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	object := clustertest.Keyed(t, "a", "1")
	of := &state.Cluster{Name: "edge+hub", Index: index.New(appcontext.NewStore(kvtest.NewFake(), time.Now), func([]string) {})}
	a := New(&state.Picture{Cluster: of}, nil, nil, tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	a.attempts[object.ID] = attempt{count: tracedAttempts}
	target := clustertest.NewFake("uid").Target(cluster.Options{Installation: "inst-1"})
	todo := action{operation: create, id: object.ID, want: &state.Wanted{Object: object, Owners: []string{"dig"}}}
	a.perform(t.Context(), &performer{target: target, installation: "inst-1"}, todo, ledger.Entry{})
	require.Empty(t, spans.GetSpans())
	delete(a.attempts, object.ID)
	a.perform(t.Context(), &performer{target: target, installation: "inst-1"}, todo, ledger.Entry{})
	require.Len(t, spans.GetSpans(), 1)
}
