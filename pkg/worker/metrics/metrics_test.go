package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// TestCountsOfAClusterBeginAtZero: an increase is seen from there on alone.
func TestCountsOfAClusterBeginAtZero(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	New(registry).Of("edge+hub").Begin()
	families, err := registry.Gather()
	require.NoError(t, err)
	begun := map[string]float64{}
	for _, family := range families {
		begun[family.GetName()] = family.GetMetric()[0].GetCounter().GetValue()
	}
	for _, name := range []string{"signpost_sync_conflicts_total", "signpost_sync_drift_repaired_total"} {
		require.Contains(t, begun, name)
		require.Zero(t, begun[name])
	}
}
