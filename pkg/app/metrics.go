package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/signpost-dns/signpost/pkg/app/measure"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
)

// newMetrics makes the metrics of the process, and of the stores.
func newMetrics(c Config, stores *stores) *prometheus.Registry {
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.MustRegister(stores.took)
	measure.Build(c.Build, metrics)
	measure.Database(stores.size, metrics)
	measure.Usage(stores.documents.Usages, metrics)
	return metrics
}

// measureReleases has a replica that works tell of health and removals, and one that
// answers requests of its index of names.
func (c Config) measureReleases(releases *release.Service, names *nameindex.Index, metrics prometheus.Registerer) {
	if c.accepts() {
		measure.Index(names.Len, names.Age, metrics)
	}
	if c.works() {
		measure.Health(releases.Frozen, metrics)
		measure.Removals(releases.RetainedNames, metrics)
	}
}
