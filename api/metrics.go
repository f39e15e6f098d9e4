package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics measures requests.
type metrics struct {
	took     *prometheus.HistogramVec // by route, method and code
	inFlight prometheus.Gauge
	shed     *prometheus.CounterVec // by why
}

// newMetrics registers the edge's metrics. It fails when the registry has them
// already.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signpost_http_request_duration_seconds",
			Help:    "How long requests took, by route, method and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method", "code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "signpost_http_requests_in_flight",
			Help: "Requests under way.",
		}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signpost_shed_total",
			Help: "Requests answered 429, or 503 for lack of memory, before anything was done. Too many came at once, or from one subject.",
		}, []string{"kind"}),
	}
	for _, collector := range []prometheus.Collector{m.took, m.inFlight, m.shed} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("api: metrics: %w", err)
		}
	}
	return m, nil
}

// observe counts a request. Routes and methods that are not ours share a
// label, so that nobody can fill the memory with labels.
func (m *metrics) observe(route, method string, status int, took time.Duration) {
	route = cmp.Or(route, "none")
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	m.took.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}
