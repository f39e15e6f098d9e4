// Package measure has the metrics of the process that no other package has.
package measure

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/quota"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// Build offers what the program was built from as a metric.
func Build(build probes.Build, metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{
			Name: "signpost_build_info", Help: "1, with what the program was built from as labels.",
			ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "go": build.Go},
		},
		func() float64 { return 1 },
	))
}

// removalsFrozen collects how many names stay published although nothing offers
// them an address any more.
type removalsFrozen struct {
	held  func() map[intent.Path]int // by record
	names *prometheus.Desc
}

// Removals offers how many names of each provider stay published because too many
// would go at once.
func Removals(held func() map[intent.Path]int, metrics prometheus.Registerer) {
	metrics.MustRegister(removalsFrozen{held, prometheus.NewDesc("signpost_removals_frozen",
		"Names that stay published although nothing offers them an address, because too many would go at once.", []string{"project", "record"}, nil)})
}

func (r removalsFrozen) Describe(descs chan<- *prometheus.Desc) { descs <- r.names }

func (r removalsFrozen) Collect(metrics chan<- prometheus.Metric) {
	for record, names := range r.held() {
		metrics <- prometheus.MustNewConstMetric(r.names, prometheus.GaugeValue, float64(names), record.Segment("projects"), record.Name())
	}
}

// Health offers as a metric whether clusters are taken out of names for being
// unreachable. frozen says why they are not; empty: they are.
func Health(frozen func() string, metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "signpost_health_frozen", Help: "Whether no cluster is taken out of names for being unreachable, because most are."},
		func() float64 {
			if frozen() == "" {
				return 0
			}
			return 1
		},
	))
}

// Index offers how many entries the index of names has, and how old it is.
func Index(entries func() int, age func() time.Duration, metrics prometheus.Registerer) {
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signpost_name_index_entries", Help: "Entries of the index of names: a host name of an owner at a provider."},
			func() float64 { return float64(entries()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signpost_name_index_age_seconds", Help: "How long ago the index of names last heard from every store; 0 before it was filled."},
			func() float64 { return age().Seconds() }),
	)
}

// Database offers how full etcd is as metrics.
func Database(size func(context.Context) (etcd.Size, error), metrics prometheus.Registerer) {
	metrics.MustRegister(&databaseCollector{
		size:  size,
		bytes: prometheus.NewDesc("signpost_etcd_database_bytes", "Size of etcd's database file, of the member where it is largest.", nil, nil),
		inUse: prometheus.NewDesc("signpost_etcd_database_in_use_bytes", "Bytes of that file that hold data.", nil, nil),
		free:  prometheus.NewDesc("signpost_etcd_disk_free_bytes", "Bytes that are free on the disk of the embedded etcd.", nil, nil),
		quota: prometheus.NewDesc("signpost_etcd_database_quota_bytes", "Size of that file at which writes are refused.", nil, nil),
	})
}

// usageCollector collects what projects have.
type usageCollector struct {
	usages           func(context.Context) (map[string]quota.Usage, error)
	documents, bytes *prometheus.Desc
}

// Usage offers what projects have as metrics.
func Usage(usages func(context.Context) (map[string]quota.Usage, error), metrics prometheus.Registerer) {
	metrics.MustRegister(usageCollector{
		usages:    usages,
		documents: prometheus.NewDesc("signpost_project_documents", "Documents of a project.", []string{"project"}, nil),
		bytes:     prometheus.NewDesc("signpost_project_bytes", "Bytes of these documents, and of what is sealed of them.", []string{"project"}, nil),
	})
}

func (u usageCollector) Describe(out chan<- *prometheus.Desc) {
	out <- u.documents
	out <- u.bytes
}

// Collect implements prometheus.Collector. There are no metrics where the store does
// not answer in time.
func (u usageCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), sizeTimeout)
	defer cancel()
	all, err := u.usages(ctx)
	if err != nil {
		return
	}
	for project, has := range all {
		out <- prometheus.MustNewConstMetric(u.documents, prometheus.GaugeValue, float64(has.Documents), project)
		out <- prometheus.MustNewConstMetric(u.bytes, prometheus.GaugeValue, float64(has.Bytes), project)
	}
}

// databaseCollector asks etcd for the size of its database. If etcd does not answer in
// time, there are no metrics.
type databaseCollector struct {
	size                      func(context.Context) (etcd.Size, error)
	bytes, inUse, quota, free *prometheus.Desc
}

// sizeTimeout is how long a scrape waits for etcd.
const sizeTimeout = 2 * time.Second

func (d *databaseCollector) Describe(out chan<- *prometheus.Desc) {
	out <- d.bytes
	out <- d.inUse
	out <- d.quota
	out <- d.free
}

func (d *databaseCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), sizeTimeout)
	defer cancel()
	size, err := d.size(ctx)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(d.bytes, prometheus.GaugeValue, float64(size.Allocated))
	out <- prometheus.MustNewConstMetric(d.inUse, prometheus.GaugeValue, float64(size.InUse))
	if size.Quota > 0 { // etcd before 3.6 does not tell
		out <- prometheus.MustNewConstMetric(d.quota, prometheus.GaugeValue, float64(size.Quota))
	}
	if size.Disk > 0 { // an external etcd does not tell
		out <- prometheus.MustNewConstMetric(d.free, prometheus.GaugeValue, float64(size.Free))
	}
}
