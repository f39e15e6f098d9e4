package externaldns

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Metrics that external-dns serves, the same in all supported versions but for
// the skipped ones, which came with v0.22.
const (
	metricBegan          = "external_dns_controller_last_reconcile_timestamp_seconds"
	metricSynced         = "external_dns_controller_last_sync_timestamp_seconds"
	metricFailures       = "external_dns_controller_consecutive_soft_errors"
	metricRegistryErrors = "external_dns_registry_errors_total"
	metricSourceErrors   = "external_dns_source_errors_total"
	metricNames          = "external_dns_registry_endpoints_total"
	metricSkipped        = "external_dns_registry_skipped_records_owner_mismatch_per_sync"
)

// Health is what an external-dns tells of its synchronizations, which follow
// each other. Times are of its own clock, in UTC.
type Health struct {
	Began          time.Time // the last synchronization; zero before the first
	Synced         time.Time // the end of the last one that succeeded; zero before the first
	Failures       int       // how many have failed since then, and not ended the process
	RegistryErrors int       // from the DNS provider and the registry, since the process started
	SourceErrors   int       // from reading DNSEndpoints, since the process started
	Names          int       // that it has read from the DNS provider, of all owners; zero before the first time
	Skipped        int       // names that it leaves alone because they belong to another owner
}

// ReadHealth reads the health out of metrics, values by name; ok is false when
// they are not those of an external-dns.
func ReadHealth(metrics map[string]float64) (h Health, ok bool) {
	if _, ok = metrics[metricSynced]; !ok {
		return Health{}, false
	}
	return Health{
		Began: moment(metrics[metricBegan]), Synced: moment(metrics[metricSynced]),
		Failures:       int(metrics[metricFailures]),
		RegistryErrors: int(metrics[metricRegistryErrors]),
		SourceErrors:   int(metrics[metricSourceErrors]),
		Names:          int(metrics[metricNames]),
		Skipped:        int(metrics[metricSkipped]),
	}, true
}

// moment turns seconds since 1970 into a time, none into the zero time. It
// keeps the order of what it is given.
func moment(seconds float64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(seconds*float64(time.Second))).UTC()
}

// Complete tells whether the synchronization that began last has succeeded. Then
// everything that external-dns had read before its metrics were read is published.
func (h Health) Complete() bool { return !h.Synced.IsZero() && !h.Synced.Before(h.Began) }

// IntervalOf is the time between two synchronizations of an external-dns with
// these arguments, its default where they do not say.
func IntervalOf(args []string) time.Duration { return durationOf(args, "interval", defaultInterval) }

// durationOf is the value of a flag among arguments, the default where they have
// none that is right.
func durationOf(args []string, flag string, otherwise time.Duration) time.Duration {
	for _, arg := range args {
		if text, found := strings.CutPrefix(arg, "--"+flag+"="); found {
			if value, err := time.ParseDuration(text); err == nil && value > 0 {
				return value
			}
		}
	}
	return otherwise
}

// DryRun tells whether an external-dns with these parameters, this environment
// and these extra arguments makes no changes.
func DryRun(parameters Parameters, environment map[string]string, extraArgs []string) bool {
	r := understand(Record{Parameters: parameters})
	flag, _ := r.table.find("dry-run")
	byEnvironment, err := strconv.ParseBool(environment[flag.Environment()])
	switch {
	case r.has(flag.Name):
		return r.on(flag.Name)
	case slices.Contains(extraArgs, "--"+flag.Name):
		return true
	case slices.Contains(extraArgs, "--no-"+flag.Name):
		return false
	}
	return err == nil && byEnvironment
}
