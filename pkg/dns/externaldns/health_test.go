package externaldns

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// metricsV022 are some that an external-dns v0.22.0 served.
func metricsV022() map[string]float64 {
	return map[string]float64{
		"external_dns_controller_consecutive_soft_errors":               2,
		"external_dns_controller_last_reconcile_timestamp_seconds":      1.7637012051234567e+09,
		"external_dns_controller_last_sync_timestamp_seconds":           1.7637011951654321e+09,
		"external_dns_controller_no_op_runs_total":                      4,
		"external_dns_registry_errors_total":                            3,
		"external_dns_source_errors_total":                              1,
		"external_dns_registry_skipped_records_owner_mismatch_per_sync": 5,
		"external_dns_registry_endpoints_total":                         7,
		"go_goroutines":                                                 40,
	}
}

func TestHealthIsReadFromMetrics(t *testing.T) {
	h, ok := ReadHealth(metricsV022())
	assert.True(t, ok)
	assert.Equal(t, Health{Began: h.Began, Synced: h.Synced, Failures: 2, RegistryErrors: 3, SourceErrors: 1, Names: 7, Skipped: 5}, h)
	assert.Equal(t, "2025-11-21T04:59:55.165Z", h.Synced.Format("2006-01-02T15:04:05.000Z07:00"))
	assert.Equal(t, 9958*time.Millisecond, h.Began.Sub(h.Synced).Round(time.Millisecond))
	assert.False(t, h.Complete(), "the one that began last has not succeeded")

	_, ok = ReadHealth(map[string]float64{"go_goroutines": 40})
	assert.False(t, ok, "somebody else's metrics")
}

func TestASynchronizationIsCompleteOnceItHasSucceeded(t *testing.T) {
	for _, c := range []struct {
		reason        string
		began, synced float64
		want          bool
	}{
		{"none has begun", 0, 0, false},
		{"the first is under way", 1000, 0, false},
		{"the first has succeeded", 1000, 1001, true},
		{"the next is under way, or has failed", 1005, 1001, false},
		{"it took no time that the clock can tell", 1005, 1005, true},
	} {
		h, _ := ReadHealth(map[string]float64{metricBegan: c.began, metricSynced: c.synced})
		assert.Equal(t, c.want, h.Complete(), c.reason)
	}
}

func TestIntervalOfArguments(t *testing.T) {
	assert.Equal(t, 5*time.Second, IntervalOf([]string{"--source=crd", "--interval=5s"}))
	assert.Equal(t, time.Minute, IntervalOf([]string{"--interval=soon"}))
	assert.Equal(t, time.Minute, IntervalOf(nil), "external-dns' default")
}

func TestDryRun(t *testing.T) {
	environment := map[string]string{"EXTERNAL_DNS_DRY_RUN": "true"}
	for _, c := range []struct {
		parameters  Parameters
		environment map[string]string
		extra       []string
		want        bool
	}{
		{nil, nil, nil, false},
		{Parameters{"dry-run": true}, nil, nil, true},
		{Parameters{"dry-run": "true"}, nil, nil, true},
		{Parameters{"dry-run": false}, environment, nil, false},
		{nil, environment, nil, true},
		{nil, map[string]string{"EXTERNAL_DNS_DRY_RUN": "false"}, nil, false},
		{nil, nil, []string{"--dry-run"}, true},
		{nil, environment, []string{"--no-dry-run"}, false},
	} {
		assert.Equal(t, c.want, DryRun(c.parameters, c.environment, c.extra), "%v", c)
	}
}
