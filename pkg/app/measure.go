package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/release"
)

// measure offers the size of the embedded etcd's database as metrics. An
// external etcd has its own.
func (s *stores) measure(metrics prometheus.Registerer) {
	if s.embedded == nil {
		return
	}
	for _, gauge := range []struct {
		name, help string
		of         func(etcd.Size) int64
	}{
		{"bytes", "Size of the database file.", func(size etcd.Size) int64 { return size.Allocated }},
		{"in_use_bytes", "Bytes of the database file that hold data.", func(size etcd.Size) int64 { return size.InUse }},
		{"quota_bytes", "Size of the database file at which writes are refused.", func(size etcd.Size) int64 { return size.Quota }},
	} {
		metrics.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Namespace: "signpost", Subsystem: "etcd_database", Name: gauge.name, Help: gauge.help},
			func() float64 { return float64(gauge.of(s.embedded.Size())) },
		))
	}
}

// measureHealth offers as a metric whether clusters are taken out of names for
// being unreachable.
func measureHealth(releases *release.Service, metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: "signpost", Subsystem: "health", Name: "frozen", Help: "Whether no cluster is taken out of names for being unreachable, because most are."},
		func() float64 {
			if releases.Frozen() == "" {
				return 0
			}
			return 1
		},
	))
}
