package probe

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

const home = "edge+hub"

func endpointID(n int) bundle.ID { return bundle.EndpointID(home, "shop", fmt.Sprintf("e%d", n)) }

// seen are the Watches of a cluster with an external-dns that has read all DNSEndpoints.
type seen struct {
	cluster.Watches
	looks int
}

func (*seen) Pods(string, map[string]string) ([]cluster.Pod, error) {
	return []cluster.Pod{{Name: "a", Ready: true, Ports: map[string]int32{"metrics": 7979}}}, nil
}

func (*seen) Deployment(string, string) (*cluster.Availability, bool) { return nil, false }

func (w *seen) Object(bundle.ID, string) cluster.Sight {
	w.looks++
	return cluster.Sight{Known: true, Live: &cluster.Live{Version: cluster.Version{UID: "u"}, Generation: 2, Observed: 2}}
}

// answering is a cluster whose external-dns has just synchronized.
type answering struct{ cluster.Target }

func (answering) Metrics(context.Context, string, string, int32) (cluster.Metrics, error) {
	return cluster.Metrics{
		{Name: "external_dns_controller_last_reconcile_timestamp_seconds", Value: 1000},
		{Name: "external_dns_controller_last_sync_timestamp_seconds", Value: 1001},
		{Name: "external_dns_controller_consecutive_soft_errors"}, {Name: "external_dns_registry_errors_total"}, {Name: "external_dns_source_errors_total"},
	}, nil
}

func lab() state.Mark {
	return state.Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
}

// probed is a Prober of a cluster in which the external-dns of a record has read DNSEndpoints.
func probed(t *testing.T, endpoints int) (*Prober, *state.Cluster, *seen) {
	t.Helper()
	of := &state.Cluster{Name: home, Clock: pace.Wall{}, Logger: slog.New(slog.DiscardHandler), Metrics: metrics.New(prometheus.NewRegistry()).Of(home), Signals: state.NewSignals()}
	watches := &seen{}
	of.SetWatches(watches, answering{})
	applied := map[bundle.ID]*state.Applied{}
	for n := range endpoints {
		applied[endpointID(n)] = &state.Applied{Mark: lab(), Endpoint: state.Endpoint{UID: "u", Generation: 2}}
	}
	of.SetSubjects(&state.Subjects{Publishers: []state.Publisher{{Mark: lab(), Deployment: "external-dns-lab"}}}, applied)
	p := New(of)
	p.step(t.Context())
	return p, of, watches
}

// TestAProberLooksAtWhatHasChanged, beside however many DNSEndpoints, and tells the observer of that alone.
func TestAProberLooksAtWhatHasChanged(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 1000} {
		p, of, watches := probed(t, size)
		first := of.TakePublished()
		require.Len(t, first.All, size)
		require.Len(t, first.Changed, size, "external-dns has synchronized what it had read")
		require.Equal(t, time.Unix(1001, 0).UTC(), first.Changed["shop/e1"].At.UTC())
		require.Equal(t, size, watches.looks)

		p.step(t.Context())
		require.Equal(t, state.Published{Changed: map[string]*observed.Published{}}, of.TakePublished(), "nothing has changed")
		require.Equal(t, size, watches.looks)

		of.Publications.Add(endpointID(1))
		of.SetSubjects(of.Snapshot().Subjects, map[bundle.ID]*state.Applied{
			endpointID(2): {Mark: lab(), Endpoint: state.Endpoint{UID: "u", Generation: 3}}, endpointID(3): nil,
		})
		p.step(t.Context())
		require.Equal(t, size+2, watches.looks, "what has gone is not looked at")
		require.Equal(t, map[string]*observed.Published{"shop/e3": nil}, of.TakePublished().Changed)
		require.Equal(t, 1, p.publications[lab()].unpublished(), "a newer state is not published yet")

		of.Publications.AddAll()
		p.step(t.Context())
		require.Equal(t, 2*size+1, watches.looks, "nobody knows what has changed")
	}
}

// TestWithoutExternalDNSNothingIsPublished any more, and another one has to be seen to publish.
func TestWithoutExternalDNSNothingIsPublished(t *testing.T) {
	t.Parallel()
	p, of, watches := probed(t, 2)
	of.TakePublished()
	with := of.Snapshot().Subjects
	of.SetSubjects(&state.Subjects{}, nil)
	p.step(t.Context())
	require.Equal(t, state.Published{Changed: map[string]*observed.Published{"shop/e0": nil, "shop/e1": nil}}, of.TakePublished())

	of.SetSubjects(with, nil)
	p.step(t.Context())
	require.Len(t, of.TakePublished().Changed, 2)
	require.Equal(t, 4, watches.looks, "another one is looked at whole")

	other := lab()
	other.Scope = "cluster"
	of.SetSubjects(&state.Subjects{Publishers: append(with.Publishers, state.Publisher{Mark: other, Deployment: "external-dns-lab-cluster"})},
		map[bundle.ID]*state.Applied{endpointID(0): {Mark: other, Endpoint: state.Endpoint{UID: "u", Generation: 2}}})
	p.step(t.Context())
	require.NotNil(t, of.TakePublished().Changed["shop/e0"], "it goes from one external-dns to another, which publishes it")
	assert.Zero(t, p.publications[other].unpublished())
	assert.Len(t, p.publications[lab()].endpoints, 1)

	of.SetSubjects(of.Snapshot().Subjects, map[bundle.ID]*state.Applied{endpointID(0): nil})
	p.step(t.Context())
	of.SetSubjects(with, nil)
	p.step(t.Context())
	assert.NotContains(t, p.publications, other, "nothing is left of an external-dns that has gone")
}

// TestWhatWaitedIsPublishedOnlyIfItStillWaits for the next synchronization.
func TestWhatWaitedIsPublishedOnlyIfItStillWaits(t *testing.T) {
	t.Parallel()
	for what, ends := range map[string]func(*publication){
		"it has gone":                       func(p *publication) { p.remove("shop/e0") },
		"its external-dns has gone":         func(p *publication) { p.forget() },
		"it has changed, and was not read":  func(p *publication) { p.look("shop/e0", unread{}, home) },
		"it has gone, and is another again": func(p *publication) { p.remove("shop/e0"); p.apply("shop/e0", state.Endpoint{UID: "v", Generation: 1}) },
	} {
		p := newPublication()
		p.apply("shop/e0", state.Endpoint{UID: "u", Generation: 2})
		p.look("shop/e0", &seen{}, home)
		require.True(t, p.awaiting(), what)
		ends(p)
		require.False(t, p.awaiting(), what)
		p.synchronized(time.Unix(1001, 0))
		require.Zero(t, p.published, what)
		require.Nil(t, p.endpoints["shop/e0"].through, what)
	}
}

// unread are the Watches of a cluster in which external-dns has read no DNSEndpoint as it is.
type unread struct{ cluster.Watches }

func (unread) Object(bundle.ID, string) cluster.Sight {
	return cluster.Sight{Known: true, Live: &cluster.Live{Version: cluster.Version{UID: "u"}, Generation: 3, Observed: 2}}
}
