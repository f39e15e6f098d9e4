package searchexpand

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// counts are the plugin's metrics, for all server blocks.
type counts struct {
	answers, denied, ignored, lookups *prometheus.CounterVec
}

func newCounts(registry prometheus.Registerer) counts {
	metrics := search.Metrics{Registry: registry, Plugin: Name}
	return counts{
		answers: metrics.Counter("answers_total", "Counter of names that were looked up with search paths.", "source", "result"),
		denied:  metrics.Counter("denied_total", "Counter of names of ap.k8s.io that are in no search domain of the cluster."),
		ignored: metrics.Counter("ignored_total", "Counter of options that were ignored.", "reason"),
		lookups: metrics.Counter("lookups_total", "Counter of lookups for those answers."),
	}
}
