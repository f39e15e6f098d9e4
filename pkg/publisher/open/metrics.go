package open

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// Metrics count the requests of all Writers; nil counts nothing.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_publisher_requests_total",
			Help: "Requests of the built-in publisher to DNS servers, by kind of provider, operation (read, write or list) and fault; an empty fault is success.",
		}, []string{"kind", "operation", "fault"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signpost_publisher_request_seconds",
			Help:    "How long requests of the built-in publisher to DNS servers take, by kind of provider and operation.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"kind", "operation"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

func (m *Metrics) observe(kind, operation string, took time.Duration, err error) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(kind, operation, string(fault.Of(err))).Inc()
	m.seconds.WithLabelValues(kind, operation).Observe(took.Seconds())
}
