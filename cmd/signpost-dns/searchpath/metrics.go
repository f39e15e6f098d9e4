package searchpath

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/search"
)

// counts are the plugin's metrics, for all server blocks.
type counts struct {
	answers, denied, ignored, unsupported *prometheus.CounterVec
}

func newCounts(registry prometheus.Registerer) counts {
	metrics := search.Metrics{Registry: registry, Plugin: Name}
	return counts{
		answers:     metrics.Counter("answers_total", "Counter of answers to names in search domains.", "result"),
		denied:      metrics.Counter("denied_total", "Counter of names of ap.k8s.io that are in no search domain of the cluster."),
		ignored:     metrics.Counter("ignored_total", "Counter of queries of clients whose own option was taken out."),
		unsupported: metrics.Counter("unsupported_total", "Counter of replies of servers that do not know the option."),
	}
}
