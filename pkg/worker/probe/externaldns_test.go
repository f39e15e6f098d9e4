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
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func TestExternalDNSIsAskedAsOftenAsThereIsNeed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	pod := func(interval string) cluster.Pod {
		return cluster.Pod{Name: "a", Ready: true, Args: []string{"--interval=" + interval}}
	}
	none, waits := newPublication(), newPublication()
	waits.waiting["/web"] = observed.Published{UID: "u", Generation: 1}
	for _, c := range []struct {
		name string
		c    externalDNSProbe
		want time.Duration
	}{
		{"not yet", externalDNSProbe{seen: true, pod: pod("1m")}, 0},
		{"nothing waits", externalDNSProbe{seen: true, pod: pod("1m"), asked: now}, 2 * time.Minute},
		{"nothing waits, often", externalDNSProbe{seen: true, pod: pod("5s"), asked: now}, 30 * time.Second},
		{"nothing waits, seldom", externalDNSProbe{seen: true, pod: pod("1h"), asked: now}, 5 * time.Minute},
		{"something waits", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, publication: waits}, 5 * time.Second},
		{"something waits, often", externalDNSProbe{seen: true, pod: pod("5s"), asked: now, publication: waits}, 2500 * time.Millisecond},
		{"something waits, and we may not ask", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, publication: waits, barred: true}, 2 * time.Minute},
		{"something is through", externalDNSProbe{seen: true, pod: pod("1m"), asked: now, publication: none}, 2 * time.Minute},
		{"the pod does not run", externalDNSProbe{seen: true, pod: cluster.Pod{Name: "a"}}, 5 * time.Minute},
		{"the pod waits", externalDNSProbe{seen: true, pod: cluster.Pod{Name: "a", Waiting: true}, asked: now}, 5 * time.Second},
		{"the pods are unknown", externalDNSProbe{}, 5 * time.Minute},
	} {
		if c.c.publication == nil {
			c.c.publication = none
		}
		assert.Equal(t, c.want, c.c.due(now), c.name)
	}
	failing := externalDNSProbe{seen: true, pod: pod("1m"), asked: now, publication: waits}
	failing.health.Failures = 3
	assert.Equal(t, time.Minute, failing.due(now), "what fails is asked as often as it tries")
	assert.Equal(t, 20*time.Second, failing.due(now.Add(40*time.Second)))
}

func TestSynchronizationsThatCeaseAreTold(t *testing.T) {
	t.Parallel()
	c := externalDNSProbe{publication: newPublication(), pod: cluster.Pod{Name: "a", Ready: true, Args: []string{"--interval=5s"}}}
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
	c := &externalDNSProbe{Publisher: state.Publisher{Mark: of}, publication: newPublication()}
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

// TestWhatTheBuiltInPublisherFindsInTheZoneIsTold to the status and to the metrics.
func TestWhatTheBuiltInPublisherFindsInTheZoneIsTold(t *testing.T) {
	t.Parallel()
	c, strays := &externalDNSProbe{publication: newPublication()}, 3
	c.hearBuiltIn(cluster.Publishing{Zone: "the DNS server has names", Strays: &strays})
	assert.Equal(t, "the DNS server has names", c.sync.Zone)
	assert.Equal(t, &strays, c.told().Strays)
	c.hearBuiltIn(cluster.Publishing{})
	assert.Empty(t, c.sync.Zone)
	assert.Nil(t, c.told().Strays)
	assert.True(t, *c.told().Available)
	c.hearBuiltIn(cluster.Publishing{Down: time.Now(), Failing: "connection refused"})
	assert.False(t, *c.told().Available)
}

// builtIn are the Watches of a built-in publisher.
type builtIn struct {
	cluster.Watches
	published map[string]cluster.Published // by the name of the DNSEndpoint
}

func (builtIn) Publishing() cluster.Publishing { return cluster.Publishing{} }

func (b builtIn) Published(endpoint bundle.ID) (cluster.Published, bool) {
	p, is := b.published[endpoint.Name]
	return p, is
}

func (builtIn) Removed(bundle.ID, []string) bool { return false }

func healthAt(synced time.Time) externaldns.Health {
	return externaldns.Health{Began: synced.Add(-time.Second), Synced: synced}
}

// TestWhatTheBuiltInPublisherHasWrittenIsMeasuredOnce: the stage published is counted for the state of a DNSEndpoint that is in DNS, and
// for changes that this worker has seen.
func TestWhatTheBuiltInPublisherHasWrittenIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	to := metrics.New(registry).Of("_publisher.shop+lab")
	began := time.Unix(1000, 0)
	at := func(milliseconds int) time.Time { return began.Add(time.Duration(milliseconds) * time.Millisecond) }
	stages := func(observed, written time.Time) *ledger.Stages {
		s := ledger.StagesOf(intent.Stages{Observed: observed, Written: written})
		return &s
	}
	c := &externalDNSProbe{publication: newPublication()}
	c.Mark = state.Mark{Project: "shop", Record: "lab", Scope: "public"}
	c.publication.apply("/web", state.Endpoint{UID: "u", Generation: 2, Stages: stages(at(100), at(200))})
	c.publication.apply("/old", state.Endpoint{UID: "v", Generation: 1, Stages: stages(at(-900), at(-800))})
	measured := func() (count uint64, sum float64) {
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			for _, each := range f.GetMetric() {
				if f.GetName() != "signpost_time_to_answer_seconds" {
					continue
				}
				labels := map[string]string{}
				for _, label := range each.GetLabel() {
					labels[label.GetName()] = label.GetValue()
				}
				require.Equal(t, map[string]string{"project": "shop", "provider": "lab", "publisher": "built-in", "stage": "published"}, labels)
				count, sum = count+each.GetHistogram().GetSampleCount(), sum+each.GetHistogram().GetSampleSum()
			}
		}
		return count, sum
	}
	tell := func(generation int64, when time.Time) {
		c.lookAt(nil, true, builtIn{published: map[string]cluster.Published{
			"web": {UID: "u", Generation: generation, At: when}, "old": {UID: "v", Generation: 1, At: at(50)},
		}}, "_publisher.shop+lab")
		c.tellPublished(to, began)
		clear(c.publication.changed)
	}
	tell(1, at(150))
	count, _ := measured()
	assert.Zero(t, count, "the former state is in DNS, and the change of before was not this worker's")
	tell(2, at(350))
	tell(2, at(350))
	count, sum := measured()
	assert.EqualValues(t, 1, count)
	assert.InDelta(t, 0.25, sum, 1e-6, "from the observation to the write")
	c.publication.apply("/web", state.Endpoint{UID: "u", Generation: 3, Stages: stages(at(500), at(600))})
	tell(3, at(1000))
	count, sum = measured()
	assert.EqualValues(t, 2, count)
	assert.InDelta(t, 0.75, sum, 1e-6)

	c.lookAt(nil, true, builtIn{}, "_publisher.shop+lab")
	assert.Equal(t, 2, c.publication.unpublished(), "the settings have changed")
	tell(3, at(5000))
	count, _ = measured()
	assert.EqualValues(t, 2, count, "it is published anew, and no change of an address")
}
