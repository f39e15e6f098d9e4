package connections

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"
)

// kept tells the metrics how much memory is kept of each cluster.
type kept struct {
	connections *Pool
	desc        *prometheus.Desc
}

// NewMemoryMetric tells how much memory is kept of each cluster.
func NewMemoryMetric(c *Pool) prometheus.Collector {
	return kept{c, prometheus.NewDesc("signpost_cluster_memory_bytes",
		"About how much memory is taken by what is kept of a cluster's answers.", []string{"cluster"}, nil)}
}

func (k kept) Describe(to chan<- *prometheus.Desc) { to <- k.desc }

func (k kept) Collect(to chan<- prometheus.Metric) {
	k.connections.mu.Lock()
	budgets := maps.Clone(k.connections.budgets)
	k.connections.mu.Unlock()
	for name, budget := range budgets {
		to <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, float64(budget.Kept()), name)
	}
}
