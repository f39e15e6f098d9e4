package probe

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func TestExternalDNSIsAskedAsOftenAsThereIsNeed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	id := bundle.ID{Group: bundle.EndpointGroup, Kind: bundle.EndpointKind, Name: "web"}
	pod := func(interval string) cluster.Pod {
		return cluster.Pod{Name: "a", Ready: true, Args: []string{"--interval=" + interval}}
	}
	waits := map[bundle.ID]observed.Published{id: {UID: "u", Generation: 1}}
	for _, c := range []struct {
		name string
		c    externalDNSProbe
		want time.Duration
	}{
		{"not yet", externalDNSProbe{seen: true, pod: pod("1m")}, 0},
		{"nothing waits", externalDNSProbe{seen: true, pod: pod("1m"), asked: now}, 2 * time.Minute},
		{"nothing waits, often", externalDNSProbe{seen: true, pod: pod("5s"), asked: now}, 30 * time.Second},
		{"nothing waits, seldom", externalDNSProbe{seen: true, pod: pod("1h"), asked: now}, 5 * time.Minute},
		{"something waits", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, noted: waits}, 5 * time.Second},
		{"something waits, often", externalDNSProbe{seen: true, pod: pod("5s"), asked: now, noted: waits}, 2500 * time.Millisecond},
		{"something waits, and we may not ask", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, noted: waits, barred: true}, 2 * time.Minute},
		{"something is through", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, noted: waits, through: waits}, 2 * time.Minute},
		{"the pod does not run", externalDNSProbe{seen: true, pod: cluster.Pod{Name: "a"}}, 5 * time.Minute},
		{"the pod waits", externalDNSProbe{seen: true, pod: cluster.Pod{Name: "a", Waiting: true}, asked: now}, 5 * time.Second},
		{"the pods are unknown", externalDNSProbe{}, 5 * time.Minute},
	} {
		assert.Equal(t, c.want, c.c.due(now), c.name)
	}
	failing := externalDNSProbe{seen: true, pod: pod("1m"), asked: now, noted: waits}
	failing.health.Failures = 3
	assert.Equal(t, time.Minute, failing.due(now), "what fails is asked as often as it tries")
	assert.Equal(t, 20*time.Second, failing.due(now.Add(40*time.Second)))
}

func TestSynchronizationsThatCeaseAreTold(t *testing.T) {
	t.Parallel()
	c := externalDNSProbe{pod: cluster.Pod{Name: "a", Ready: true, Args: []string{"--interval=5s"}}}
	began := time.Now()
	health := func(synced time.Time) { c.hear(healthAt(synced), began) }
	health(time.Unix(1000, 0))
	assert.Empty(t, c.sync.Failing)
	c.hear(healthAt(time.Unix(1000, 0)), began.Add(45*time.Second))
	assert.Empty(t, c.sync.Failing)
	c.hear(healthAt(time.Unix(1000, 0)), began.Add(46*time.Second))
	assert.Equal(t, "no synchronization has succeeded for more than 3 intervals of 5s", c.sync.Failing)
	c.hear(healthAt(time.Unix(1050, 0)), began.Add(50*time.Second))
	assert.Empty(t, c.sync.Failing)
}

func TestMetricsTellOfEachExternalDNS(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := metrics.New(registry).Of("edge+hub")
	of := state.Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
	c := &externalDNSProbe{Publisher: state.Publisher{Mark: of}}
	gathered := func() map[string]string {
		families, err := registry.Gather()
		require.NoError(t, err)
		out := map[string]string{}
		for _, f := range families {
			for _, each := range f.GetMetric() {
				if len(each.GetLabel()) == 0 {
					continue // the worker's own
				}
				text := strconv.FormatFloat(each.GetGauge().GetValue(), 'g', -1, 64)
				for _, label := range each.GetLabel() {
					text += " " + label.GetValue()
				}
				out[f.GetName()] = text
			}
		}
		return out
	}
	m.Probed(of.Metric(), c.told())
	assert.Empty(t, gathered(), "what is not known is not told")
	c.judged, c.available, c.watched, c.sync = true, true, true, &observed.Sync{Last: time.Unix(1000, 500e6)}
	m.Probed(of.Metric(), c.told())
	assert.Equal(t, map[string]string{
		"signpost_external_dns_available":                   "1 edge+hub shop lab public",
		"signpost_external_dns_last_sync_timestamp_seconds": "1000.5 edge+hub shop lab public",
		"signpost_external_dns_unpublished_endpoints":       "0 edge+hub shop lab public",
	}, gathered())
	c.barred = true
	m.Probed(of.Metric(), c.told())
	assert.NotContains(t, gathered(), "signpost_external_dns_unpublished_endpoints", "whoever may not ask does not know")
	m.Forget(of.Metric())
	assert.Empty(t, gathered())
}

func healthAt(synced time.Time) externaldns.Health {
	return externaldns.Health{Began: synced.Add(-time.Second), Synced: synced}
}
