package search

import (
	"github.com/coredns/coredns/plugin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics registers those of a plugin.
type Metrics struct {
	Registry prometheus.Registerer
	Plugin   string // its name
}

// Counter is coredns_PLUGIN_NAME, with the label server before the others.
func (m Metrics) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(m.Registry).NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace, Subsystem: m.Plugin, Name: name, Help: help,
	}, append([]string{"server"}, labels...))
}
