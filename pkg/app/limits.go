package app

import (
	"cmp"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// checkLimits finds limits that are none.
func (c Config) checkLimits() error {
	for _, limit := range []struct {
		flag  string
		value int
	}{
		{"--max-records", c.MaxRecords}, {"--max-names", c.MaxNames}, {"--max-external-dns", c.MaxExternalDNS}, {"--max-objects", c.MaxObjects}, {"--max-documents", c.MaxDocuments}, {"--max-bytes", int(c.MaxBytes)}, {"--rate-limit", c.RateLimit},
		{"--max-connections", c.MaxConnections},
	} {
		if limit.value < 0 {
			return fmt.Errorf("%s: %d is below 0; give 0 for no limit", limit.flag, limit.value)
		}
	}
	if c.ClusterMemory != 0 && (c.ClusterMemory < leastMemory || c.ClusterMemory > mostMemory) {
		return fmt.Errorf("--cluster-memory: %d MiB is not between %d and %d", c.ClusterMemory, leastMemory, mostMemory)
	}
	return nil
}

// What --cluster-memory may be, in MiB.
const (
	leastMemory = 16
	mostMemory  = 64 << 10
)

// clusterMemory is how many bytes may be kept of one cluster's answers.
func (c Config) clusterMemory() int64 {
	const mib = 1 << 20
	return cmp.Or(int64(c.ClusterMemory)*mib, cluster.DefaultMemory)
}

// quotas are those of projects that have none of their own.
func (c Config) quotas() intent.Quotas {
	quota := func(limit int) *int {
		if limit == 0 {
			return nil
		}
		return &limit
	}
	quotas := intent.Quotas{Records: quota(c.MaxRecords), Names: quota(c.MaxNames), ExternalDNS: quota(c.MaxExternalDNS), Objects: quota(c.MaxObjects), Documents: quota(c.MaxDocuments)}
	if c.MaxBytes > 0 {
		quotas.Bytes = &c.MaxBytes
	}
	return quotas
}

// buckets limit how often each subject asks, by REST and by gRPC together; nil:
// nothing does.
func (c Config) buckets() *throttle.Buckets {
	const burst = 10 // seconds' worth
	if c.RateLimit == 0 {
		return nil
	}
	return throttle.NewBuckets(float64(c.RateLimit), burst*c.RateLimit)
}
