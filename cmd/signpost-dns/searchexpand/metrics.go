package searchexpand

import (
	"github.com/coredns/coredns/plugin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// counts are the plugin's metrics, for all server blocks.
type counts struct {
	answers, denied, ignored, lookups *prometheus.CounterVec
}

func newCounts(registry prometheus.Registerer) counts {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
			Namespace: plugin.Namespace, Subsystem: Name, Name: name, Help: help,
		}, append([]string{"server"}, labels...))
	}
	return counts{
		answers: counter("answers_total", "Counter of names that were looked up with search paths.", "source", "result"),
		denied:  counter("denied_total", "Counter of names of ap.k8s.io that are in no search domain of the cluster."),
		ignored: counter("ignored_total", "Counter of options that were ignored.", "reason"),
		lookups: counter("lookups_total", "Counter of lookups for those answers."),
	}
}
