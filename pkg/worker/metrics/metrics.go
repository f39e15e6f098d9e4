// Package metrics counts what a worker does, by cluster.
package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Worker keeps the metrics of a worker, over all clusters.
type Worker struct {
	depth      *prometheus.GaugeVec
	oldest     *prometheus.GaugeVec
	requests   *prometheus.CounterVec
	drift      *prometheus.CounterVec
	objects    *prometheus.GaugeVec
	up         *prometheus.GaugeVec
	available  *prometheus.GaugeVec
	lastSync   *prometheus.GaugeVec
	waiting    *prometheus.GaugeVec
	strays     *prometheus.GaugeVec
	duration   *prometheus.HistogramVec
	stages     *prometheus.HistogramVec
	lag        *prometheus.HistogramVec
	conflicts  *prometheus.CounterVec
	missed     *prometheus.CounterVec
	owned      prometheus.Gauge
	lost       prometheus.Counter
	everything []*prometheus.MetricVec
}

// New makes the metrics of a worker, and registers them unless registerer is nil.
func New(registerer prometheus.Registerer) *Worker {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Worker{
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
	m.strays = gauge("signpost_publisher_stray_names", "Names in a zone with the mark of the provider that nobody gives, as the built-in publisher saw them last.", external...)
	m.waiting = gauge("signpost_external_dns_unpublished_endpoints", "DNSEndpoints that were not yet seen to be published as they are.", external...)
	m.stages = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "signpost_time_to_answer_seconds",
		Help:    "From the observation of a changed address to each stage of its way into DNS: seen, decided, written, published, answered.",
		Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 1800},
	}, []string{"project", "provider", "publisher", "stage"})
	m.lag = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signpost_sync_lag_seconds", Help: "From when a context was made current to each object of it in the cluster.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
	}, []string{"cluster"})
	m.missed = counter("signpost_sync_resync_found_total", "Objects that were not as they should be, and Services that offered something else, found by the look at all: nobody had told.", "cluster")
	m.conflicts = counter("signpost_sync_conflicts_total", "Objects of somebody else that were found in the way.", "cluster")
	m.owned = prometheus.NewGauge(prometheus.GaugeOpts{Name: "signpost_clusters_owned", Help: "Clusters that this worker serves."})
	m.lost = prometheus.NewCounter(prometheus.CounterOpts{Name: "signpost_leases_lost_total", Help: "Leases that this worker has lost."})
	m.everything = []*prometheus.MetricVec{
		m.depth.MetricVec, m.oldest.MetricVec, m.requests.MetricVec, m.drift.MetricVec, m.objects.MetricVec, m.up.MetricVec,
		m.available.MetricVec, m.lastSync.MetricVec, m.waiting.MetricVec, m.strays.MetricVec,
		m.lag.MetricVec, m.conflicts.MetricVec, m.missed.MetricVec,
	}
	if registerer != nil {
		registerer.MustRegister(m.depth, m.oldest, m.requests, m.drift, m.objects, m.up, m.duration, m.available, m.lastSync, m.waiting, m.strays, m.stages, m.lag, m.conflicts, m.missed, m.owned, m.lost)
	}
	return m
}

// Owns tells how many clusters the worker serves.
func (m *Worker) Owns(clusters int) { m.owned.Set(float64(clusters)) }

// LeaseLost counts a lease that the worker has lost.
func (m *Worker) LeaseLost() { m.lost.Inc() }

// Of answers the metrics of one cluster.
func (m *Worker) Of(name string) *Cluster { return &Cluster{all: m, name: name} }

// Cluster keeps the metrics of one cluster.
type Cluster struct {
	all  *Worker
	name string
}

// Begin is called when a worker begins to serve the cluster. Counters begin at 0:
// a series that begins with its first event shows no increase.
func (m *Cluster) Begin() {
	for _, counter := range []*prometheus.CounterVec{m.all.drift, m.all.conflicts, m.all.missed} {
		counter.WithLabelValues(m.name)
	}
}

// Queue tells how many actions are due.
func (m *Cluster) Queue(depth int) { m.all.depth.WithLabelValues(m.name).Set(float64(depth)) }

// Waits tells since when the oldest action has been waiting, zero for none.
func (m *Cluster) Waits(since time.Time) {
	at := 0.0
	if !since.IsZero() {
		at = time.Duration(since.UnixNano()).Seconds()
	}
	m.all.oldest.WithLabelValues(m.name).Set(at)
}

// Repaired counts an object that was put back.
func (m *Cluster) Repaired() { m.all.drift.WithLabelValues(m.name).Inc() }

// Missed counts an object of which nobody had told that something has changed about it.
func (m *Cluster) Missed() { m.all.missed.WithLabelValues(m.name).Inc() }

// Conflicted counts an object of somebody else that is in the way.
func (m *Cluster) Conflicted() { m.all.conflicts.WithLabelValues(m.name).Inc() }

// Applied notes that an object is in the cluster as a context has it that was changed then. A time of zero is not known.
func (m *Cluster) Applied(changed, now time.Time) {
	if !changed.IsZero() {
		m.all.lag.WithLabelValues(m.name).Observe(now.Sub(changed).Seconds())
	}
}

// Stage is a stage of a changed address on its way into DNS.
type Stage string

// The stages, in their order.
const (
	Seen      Stage = "seen"      // the controller has taken the observation up
	Decided   Stage = "decided"   // the app context has it
	Written   Stage = "written"   // the home has the DNSEndpoint
	Published Stage = "published" // the DNS provider was told
	Answered  Stage = "answered"  // all authoritative servers were found to answer it
)

// Reached notes when an address that was observed then has come to a stage. A time of zero is not known.
func (m *Cluster) Reached(stage Stage, of ExternalDNS, observed, at time.Time) {
	if !observed.IsZero() && !at.IsZero() {
		m.all.stages.WithLabelValues(of.Project, of.Record, m.publisher(), string(stage)).Observe(max(0, at.Sub(observed)).Seconds())
	}
}

// publisher is the kind of program that tells the DNS provider.
func (m *Cluster) publisher() string {
	if intent.IsPublisher(m.name) {
		return intent.BuiltIn
	}
	return "external-dns"
}

// Reachable tells whether the cluster answered the last probe.
func (m *Cluster) Reachable(yes bool) {
	m.all.up.WithLabelValues(m.name).Set(number(yes))
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// ExternalDNS names an external-dns of the cluster.
type ExternalDNS struct{ Project, Record, Scope string }

// Health is what is known of an external-dns.
type Health struct {
	Available   *bool     // nil: not known
	Unpublished *int      // DNSEndpoints that were not yet seen to be published; nil: not known
	LastSync    time.Time // zero: not known
	Strays      *int      // names in the zone with the mark of the provider that nobody gives; nil: not known
}

// Probed tells how an external-dns does. Its availability and its last synchronization
// stay as they were while nothing newer is known.
func (m *Cluster) Probed(of ExternalDNS, health Health) {
	labels := m.labels(of)
	if health.Available != nil {
		m.all.available.With(labels).Set(number(*health.Available))
	}
	if health.Unpublished != nil {
		m.all.waiting.With(labels).Set(float64(*health.Unpublished))
	} else {
		m.all.waiting.Delete(labels)
	}
	if health.Strays != nil {
		m.all.strays.With(labels).Set(float64(*health.Strays))
	} else {
		m.all.strays.Delete(labels)
	}
	if !health.LastSync.IsZero() {
		m.all.lastSync.With(labels).Set(time.Duration(health.LastSync.UnixNano()).Seconds())
	}
}

// Forget drops the metrics of an external-dns that is gone.
func (m *Cluster) Forget(gone ExternalDNS) {
	for _, vector := range []*prometheus.GaugeVec{m.all.available, m.all.waiting, m.all.lastSync, m.all.strays} {
		vector.Delete(m.labels(gone))
	}
	m.all.stages.DeletePartialMatch(prometheus.Labels{"project": gone.Project, "provider": gone.Record, "publisher": m.publisher()})
}

func (m *Cluster) labels(of ExternalDNS) prometheus.Labels {
	return prometheus.Labels{"cluster": m.name, "project": of.Project, "record": of.Record, "scope": of.Scope}
}

// Entries tells how many objects the ledger has, by status.
func (m *Cluster) Entries(count map[ledger.Status]int) {
	for _, status := range []ledger.Status{ledger.Pending, ledger.Applied, ledger.Retrying, ledger.Failed, ledger.Deleted} {
		m.all.objects.WithLabelValues(m.name, string(status)).Set(float64(count[status]))
	}
}

// End drops the metrics of a cluster that is served no more.
func (m *Cluster) End() {
	for _, vector := range m.all.everything {
		vector.DeletePartialMatch(prometheus.Labels{"cluster": m.name})
	}
}

// Counted wraps a target so that its requests are counted.
func (m *Cluster) Counted(target cluster.Target) cluster.Target {
	return &countedTarget{Target: target, metrics: m}
}

type countedTarget struct {
	cluster.Target
	metrics *Cluster
}

// count counts a request that began then and ends now.
func (c *countedTarget) count(verb string, began time.Time, err *error) { //nolint:gocritic // a deferred call reads the result at its end
	c.metrics.all.requests.WithLabelValues(c.metrics.name, verb, strconv.Itoa(cluster.CodeOf(*err))).Inc()
	c.metrics.all.duration.WithLabelValues(verb).Observe(time.Since(began).Seconds())
}

func (c *countedTarget) Identity(ctx context.Context) (uid string, err error) {
	defer c.count("probe", time.Now(), &err)
	return c.Target.Identity(ctx)
}

func (c *countedTarget) Get(ctx context.Context, id bundle.ID) (live *cluster.Live, err error) {
	defer c.count("get", time.Now(), &err)
	return c.Target.Get(ctx, id)
}

func (c *countedTarget) Create(ctx context.Context, o bundle.Object) (live cluster.Live, err error) {
	defer c.count("create", time.Now(), &err)
	return c.Target.Create(ctx, o)
}

func (c *countedTarget) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (live cluster.Live, err error) {
	defer c.count("restore", time.Now(), &err)
	return c.Target.Restore(ctx, o, at)
}

func (c *countedTarget) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (live cluster.Live, err error) {
	defer c.count("apply", time.Now(), &err)
	return c.Target.Apply(ctx, o, at)
}

func (c *countedTarget) Metrics(ctx context.Context, namespace, pod string, port int32) (metrics cluster.Metrics, err error) {
	defer c.count("metrics", time.Now(), &err)
	return c.Target.Metrics(ctx, namespace, pod, port)
}

func (c *countedTarget) Share(ctx context.Context, o bundle.Object) (live cluster.Live, err error) {
	defer c.count("share", time.Now(), &err)
	return c.Target.Share(ctx, o)
}

func (c *countedTarget) Unshare(ctx context.Context, id bundle.ID) (err error) {
	defer c.count("unshare", time.Now(), &err)
	return c.Target.Unshare(ctx, id)
}

func (c *countedTarget) Delete(ctx context.Context, id bundle.ID, at cluster.Version) (err error) {
	defer c.count("delete", time.Now(), &err)
	return c.Target.Delete(ctx, id, at)
}
