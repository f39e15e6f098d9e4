package syncer

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// metrics are the worker's, over all clusters.
type metrics struct {
	depth      *prometheus.GaugeVec
	oldest     *prometheus.GaugeVec
	requests   *prometheus.CounterVec
	drift      *prometheus.CounterVec
	objects    *prometheus.GaugeVec
	up         *prometheus.GaugeVec
	available  *prometheus.GaugeVec
	lastSync   *prometheus.GaugeVec
	waiting    *prometheus.GaugeVec
	duration   *prometheus.HistogramVec
	applied    *prometheus.HistogramVec
	answered   *prometheus.HistogramVec
	lag        *prometheus.HistogramVec
	conflicts  *prometheus.CounterVec
	owned      prometheus.Gauge
	lost       prometheus.Counter
	everything []*prometheus.MetricVec
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		depth:    gauge("signpost_sync_queue_depth", "Actions that are due in a cluster and not yet done.", "cluster"),
		oldest:   gauge("signpost_sync_queue_oldest_timestamp_seconds", "Since when the oldest action that is not done has been waiting, in Unix time; 0 while none is there.", "cluster"),
		requests: counter("signpost_sync_requests_total", "Requests to a cluster, by verb and HTTP status (0: no answer).", "cluster", "verb", "code"),
		drift:    counter("signpost_sync_drift_repaired_total", "Objects that were changed or deleted by hand and put back.", "cluster"),
		objects:  gauge("signpost_sync_objects", "Objects in the ledger, by status.", "cluster", "status"),
		up:       gauge("signpost_sync_cluster_reachable", "Whether the cluster answered the last probe.", "cluster"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signpost_sync_request_duration_seconds", Help: "Duration of requests to clusters.",
			Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"verb"}),
	}
	external := []string{"cluster", "project", "record", "scope"}
	m.available = gauge("signpost_external_dns_available", "Whether the external-dns of a record is available.", external...)
	m.lastSync = gauge("signpost_external_dns_last_sync_timestamp_seconds", "When external-dns last synchronized successfully, by its own clock.", external...)
	m.waiting = gauge("signpost_external_dns_unpublished_endpoints", "DNSEndpoints that were not yet seen to be published as they are.", external...)
	m.applied = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signpost_address_to_endpoint_seconds", Help: "From the observation of a changed address to its DNSEndpoint in the cluster.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
	}, []string{"cluster"})
	m.answered = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signpost_address_to_answer_seconds", Help: "From the observation of a changed address to its being answered by all authoritative servers.",
		Buckets: []float64{1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
	}, []string{"cluster"})
	m.lag = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signpost_sync_lag_seconds", Help: "From when a context was made current to each object of it in the cluster.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
	}, []string{"cluster"})
	m.conflicts = counter("signpost_sync_conflicts_total", "Objects of somebody else that were found in the way.", "cluster")
	m.owned = prometheus.NewGauge(prometheus.GaugeOpts{Name: "signpost_clusters_owned", Help: "Clusters that this worker serves."})
	m.lost = prometheus.NewCounter(prometheus.CounterOpts{Name: "signpost_leases_lost_total", Help: "Leases that this worker has lost."})
	m.everything = []*prometheus.MetricVec{
		m.depth.MetricVec, m.oldest.MetricVec, m.requests.MetricVec, m.drift.MetricVec, m.objects.MetricVec, m.up.MetricVec,
		m.available.MetricVec, m.lastSync.MetricVec, m.waiting.MetricVec,
		m.applied.MetricVec, m.answered.MetricVec, m.lag.MetricVec, m.conflicts.MetricVec,
	}
	if registerer != nil {
		registerer.MustRegister(m.depth, m.oldest, m.requests, m.drift, m.objects, m.up, m.duration, m.available, m.lastSync, m.waiting, m.applied, m.answered, m.lag, m.conflicts, m.owned, m.lost)
	}
	return m
}

func (m *metrics) of(name string) *clusterMetrics { return &clusterMetrics{all: m, name: name} }

// clusterMetrics are those of one cluster.
type clusterMetrics struct {
	all  *metrics
	name string
}

// begin is told when a cluster begins to be served. What is counted begins at 0:
// a series that begins with its first event shows no increase.
func (m *clusterMetrics) begin() {
	for _, counter := range []*prometheus.CounterVec{m.all.drift, m.all.conflicts} {
		counter.WithLabelValues(m.name)
	}
}

func (m *clusterMetrics) queue(depth int) { m.all.depth.WithLabelValues(m.name).Set(float64(depth)) }

// waits tells since when the oldest action has been waiting, zero for none.
func (m *clusterMetrics) waits(since time.Time) {
	at := 0.0
	if !since.IsZero() {
		at = time.Duration(since.UnixNano()).Seconds()
	}
	m.all.oldest.WithLabelValues(m.name).Set(at)
}

func (m *clusterMetrics) repaired()   { m.all.drift.WithLabelValues(m.name).Inc() }
func (m *clusterMetrics) conflicted() { m.all.conflicts.WithLabelValues(m.name).Inc() }

// follows counts how long after its cause something was seen to be so, if the
// cause is known.
func (m *clusterMetrics) follows(so *prometheus.HistogramVec, cause, now time.Time) {
	if !cause.IsZero() {
		so.WithLabelValues(m.name).Observe(now.Sub(cause).Seconds())
	}
}

func (m *clusterMetrics) reachable(yes bool) {
	m.all.up.WithLabelValues(m.name).Set(number(yes))
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// probed tells how an external-dns does, as far as that is known.
func (m *clusterMetrics) probed(c *externalDNSProbe) {
	labels := m.labels(c.mark)
	if c.judged {
		m.all.available.With(labels).Set(number(c.available))
	}
	if c.watched && !c.barred {
		m.all.waiting.With(labels).Set(float64(c.unpublished()))
	} else {
		m.all.waiting.Delete(labels)
	}
	if c.sync != nil && !c.sync.Last.IsZero() {
		m.all.lastSync.With(labels).Set(time.Duration(c.sync.Last.UnixNano()).Seconds())
	}
}

// forget drops what there is of an external-dns that is gone.
func (m *clusterMetrics) forget(gone mark) {
	for _, vector := range []*prometheus.GaugeVec{m.all.available, m.all.waiting, m.all.lastSync} {
		vector.Delete(m.labels(gone))
	}
}

func (m *clusterMetrics) labels(of mark) prometheus.Labels {
	return prometheus.Labels{"cluster": m.name, "project": of.project, "record": of.record, "scope": of.scope}
}

func (m *clusterMetrics) entries(entries map[bundle.ID]ledger.Entry) {
	counts := map[ledger.Status]int{ledger.Pending: 0, ledger.Applied: 0, ledger.Retrying: 0, ledger.Failed: 0, ledger.Deleted: 0}
	for _, e := range entries {
		counts[e.Status]++
	}
	for status, count := range counts {
		m.all.objects.WithLabelValues(m.name, string(status)).Set(float64(count))
	}
}

// end drops what there is of a cluster that is served no more.
func (m *clusterMetrics) end() {
	for _, vector := range m.all.everything {
		vector.DeletePartialMatch(prometheus.Labels{"cluster": m.name})
	}
}

// counted wraps a target so that its requests are counted.
func (m *clusterMetrics) counted(target cluster.Target) cluster.Target {
	return &countedTarget{Target: target, metrics: m}
}

type countedTarget struct {
	cluster.Target
	metrics *clusterMetrics
}

func (c *countedTarget) count(verb string, began time.Time, err error) {
	c.metrics.all.requests.WithLabelValues(c.metrics.name, verb, strconv.Itoa(cluster.CodeOf(err))).Inc()
	c.metrics.all.duration.WithLabelValues(verb).Observe(time.Since(began).Seconds())
}

func (c *countedTarget) Identity(ctx context.Context) (string, error) {
	began := time.Now()
	uid, err := c.Target.Identity(ctx)
	c.count("probe", began, err)
	return uid, err
}

func (c *countedTarget) Get(ctx context.Context, id bundle.ID) (*cluster.Live, error) {
	began := time.Now()
	live, err := c.Target.Get(ctx, id)
	c.count("get", began, err)
	return live, err
}

func (c *countedTarget) Create(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	began := time.Now()
	live, err := c.Target.Create(ctx, o)
	c.count("create", began, err)
	return live, err
}

func (c *countedTarget) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	began := time.Now()
	live, err := c.Target.Restore(ctx, o, at)
	c.count("restore", began, err)
	return live, err
}

func (c *countedTarget) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	began := time.Now()
	live, err := c.Target.Apply(ctx, o, at)
	c.count("apply", began, err)
	return live, err
}

func (c *countedTarget) Metrics(ctx context.Context, namespace, pod string, port int32) (cluster.Metrics, error) {
	began := time.Now()
	metrics, err := c.Target.Metrics(ctx, namespace, pod, port)
	c.count("metrics", began, err)
	return metrics, err
}

func (c *countedTarget) Share(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	began := time.Now()
	live, err := c.Target.Share(ctx, o)
	c.count("share", began, err)
	return live, err
}

func (c *countedTarget) Unshare(ctx context.Context, id bundle.ID) error {
	began := time.Now()
	err := c.Target.Unshare(ctx, id)
	c.count("unshare", began, err)
	return err
}

func (c *countedTarget) Delete(ctx context.Context, id bundle.ID, at cluster.Version) error {
	began := time.Now()
	err := c.Target.Delete(ctx, id, at)
	c.count("delete", began, err)
	return err
}
