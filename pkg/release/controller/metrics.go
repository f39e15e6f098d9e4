package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// metrics are a controller's. Its queue reports to them as the
// workqueue.MetricsProvider that they are.
type metrics struct {
	depth, longest prometheus.Gauge
	waited         prometheus.Histogram
	steps          *prometheus.HistogramVec
	found          prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		depth:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "signpost_controller_queue_depth", Help: "Owners that are due and not yet reconciled."}),
		longest: prometheus.NewGauge(prometheus.GaugeOpts{Name: "signpost_controller_longest_step_seconds", Help: "How long the longest running step has taken so far."}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "signpost_controller_queue_wait_seconds", Help: "How long owners had been due when they were reconciled.",
			Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signpost_step_duration_seconds", Help: "Duration of the controller's steps.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"kind", "outcome"}),
		found: prometheus.NewCounter(prometheus.CounterOpts{Name: "signpost_resync_found_total", Help: "Changes that nobody had told of, and that only the round over all owners found."}),
	}
	if registerer != nil {
		registerer.MustRegister(m.depth, m.longest, m.waited, m.steps, m.found)
	}
	return m
}

// stepped notes a step that began then and ends now.
func (m *metrics) stepped(todo work, began time.Time, settled bool, err error) {
	kind, outcome := "group", "unsettled"
	switch {
	case todo.service != "":
		kind = "addresses"
	case state.IsRecord(todo.owner):
		kind = "record"
	}
	switch {
	case err != nil:
		outcome = "failed"
	case settled:
		outcome = "settled"
	}
	m.steps.WithLabelValues(kind, outcome).Observe(time.Since(began).Seconds())
}

func (m *metrics) NewDepthMetric(string) workqueue.GaugeMetric { return m.depth }

func (m *metrics) NewLatencyMetric(string) workqueue.HistogramMetric { return m.waited }

func (m *metrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m.longest
}

// NewAddsMetric implements workqueue.MetricsProvider: steps are counted where
// they are made.
func (m *metrics) NewAddsMetric(string) workqueue.CounterMetric { return uncounted() }

func (m *metrics) NewRetriesMetric(string) workqueue.CounterMetric { return uncounted() }

func (m *metrics) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return prometheus.NewHistogram(prometheus.HistogramOpts{})
}

func (m *metrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return prometheus.NewGauge(prometheus.GaugeOpts{})
}

// uncounted is a counter that nobody reads.
func uncounted() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{}) }
