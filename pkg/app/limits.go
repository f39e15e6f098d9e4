package app

import (
	"cmp"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// checkLimits finds limits that are none.
func (l Limits) checkLimits() error {
	for _, limit := range []struct {
		flag  string
		value int
	}{
		{"--max-records", l.MaxRecords}, {"--max-names", l.MaxNames}, {"--max-external-dns", l.MaxExternalDNS}, {"--max-objects", l.MaxObjects}, {"--max-documents", l.MaxDocuments}, {"--max-bytes", int(l.MaxBytes)}, {"--rate-limit", l.RateLimit},
		{"--max-connections", l.MaxConnections},
	} {
		if limit.value < 0 {
			return fmt.Errorf("%s: %d is below 0; give 0 for no limit", limit.flag, limit.value)
		}
	}
	if l.ClusterMemory != 0 && (l.ClusterMemory < leastMemory || l.ClusterMemory > mostMemory) {
		return fmt.Errorf("--cluster-memory: %d MiB is not between %d and %d", l.ClusterMemory, leastMemory, mostMemory)
	}
	return nil
}

// The limits of --cluster-memory, in MiB.
const (
	leastMemory = 16
	mostMemory  = 64 << 10
)

// clusterMemory is how many bytes may be kept of one cluster's answers.
func (l Limits) clusterMemory() int64 {
	const mib = 1 << 20
	return cmp.Or(int64(l.ClusterMemory)*mib, cluster.DefaultMemory)
}

// quotas are those of projects that have none of their own.
func (l Limits) quotas() intent.Quotas {
	quota := func(limit int) *int {
		if limit == 0 {
			return nil
		}
		return &limit
	}
	quotas := intent.Quotas{Records: quota(l.MaxRecords), Names: quota(l.MaxNames), ExternalDNS: quota(l.MaxExternalDNS), Objects: quota(l.MaxObjects), Documents: quota(l.MaxDocuments)}
	if l.MaxBytes > 0 {
		quotas.Bytes = &l.MaxBytes
	}
	return quotas
}

// buckets limit how often each subject asks, by REST and by gRPC together; nil:
// nothing does.
func (l Limits) buckets() *throttle.Buckets {
	const burst = 10 // seconds' worth
	if l.RateLimit == 0 {
		return nil
	}
	return throttle.NewBuckets(float64(l.RateLimit), burst*l.RateLimit)
}
