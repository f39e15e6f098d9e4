package app

import (
	"fmt"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/throttle"
)

// checkLimits finds limits that are none.
func (c Config) checkLimits() error {
	for _, limit := range []struct {
		flag  string
		value int
	}{
		{"--max-records", c.MaxRecords}, {"--max-names", c.MaxNames}, {"--max-external-dns", c.MaxExternalDNS}, {"--rate-limit", c.RateLimit},
		{"--max-connections", c.MaxConnections},
	} {
		if limit.value < 0 {
			return fmt.Errorf("%s: %d is below 0; give 0 for no limit", limit.flag, limit.value)
		}
	}
	return nil
}

// quotas are those of projects that have none of their own.
func (c Config) quotas() intent.Quotas {
	quota := func(limit int) *int {
		if limit == 0 {
			return nil
		}
		return &limit
	}
	return intent.Quotas{Records: quota(c.MaxRecords), Names: quota(c.MaxNames), ExternalDNS: quota(c.MaxExternalDNS)}
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
