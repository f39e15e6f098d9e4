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

// TestStrayNamesAreCountedWhereTheyAreKnown, and not for a provider that is gone.
func TestStrayNamesAreCountedWhereTheyAreKnown(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, of, three := New(registry).Of("_publisher.shop+lab"), ExternalDNS{Project: "shop", Record: "lab", Scope: "public"}, 3
	counted := func() []float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		var values []float64
		for _, family := range families {
			for _, each := range family.GetMetric() {
				if family.GetName() == "signpost_publisher_stray_names" {
					values = append(values, each.GetGauge().GetValue())
				}
			}
		}
		return values
	}
	m.Probed(of, Health{Strays: &three})
	require.Equal(t, []float64{3}, counted())
	m.Probed(of, Health{})
	require.Empty(t, counted(), "it is not known")
	m.Probed(of, Health{Strays: &three})
	m.Forget(of)
	require.Empty(t, counted())
}
