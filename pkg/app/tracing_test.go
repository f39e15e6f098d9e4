package app

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// collector takes spans until it is shut down, as an exporter does.
type collector struct {
	names []string
	shut  bool
}

// ExportSpans implements sdktrace.SpanExporter.
func (c *collector) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	if c.shut {
		return errors.New("the exporter is shut down")
	}
	for _, span := range spans {
		c.names = append(c.names, span.Name())
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (c *collector) Shutdown(context.Context) error {
	c.shut = true
	return nil
}

// TestTheLastSpansAreExportedAtTheEnd: those that wait when the process ends.
func TestTheLastSpansAreExportedAtTheEnd(t *testing.T) {
	t.Parallel()
	to, metrics := &collector{}, prometheus.NewRegistry()
	provider := newProvider(Config{Telemetry: Telemetry{TraceRatio: 1}}, to, metrics)
	for _, name := range []string{"GET group", "step"} {
		_, span := provider.Tracer("test").Start(t.Context(), name)
		span.End()
	}
	require.Empty(t, to.names, "they wait")
	(&exports{close: []func(context.Context) error{provider.Shutdown}}).end(t.Context())
	require.Equal(t, []string{"GET group", "step"}, to.names)
	require.Equal(t, map[string]float64{"ended": 2, "exported": 2}, outcomes(t, metrics))
	require.True(t, to.shut, "the exporter is told of the end")
}

// outcomes is how many spans came to what.
func outcomes(t *testing.T, metrics prometheus.Gatherer) map[string]float64 {
	families, err := metrics.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, metric := range families[0].GetMetric() {
		counts[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
	}
	return counts
}
