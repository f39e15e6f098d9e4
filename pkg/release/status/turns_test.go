package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestTheLastTransitionTimeIsWhenTheStatusOfTheConditionLastChanged: not when
// the release was accepted.
func TestTheLastTransitionTimeIsWhenTheStatusOfTheConditionLastChanged(t *testing.T) {
	day := settled().Add(24 * time.Hour)
	retrying := func(since time.Time) func(e *ledger.Entry) {
		return func(e *ledger.Entry) { e.Status, e.Since = ledger.Retrying, since }
	}
	for _, c := range []struct {
		kind, reason string
		given        func(s *query.Snapshot)
		want         string
		at           time.Time
	}{
		{"Planned", "with the release", func(*query.Snapshot) {}, "True", accepted()},
		{"Committed", "while it is being written", func(s *query.Snapshot) { s.Committed = false }, "False", accepted()},
		{"Committed", "as its context is current", func(s *query.Snapshot) { s.Current = day }, "True", day},
		{"Synced", "as the last object was applied", func(s *query.Snapshot) {
			edit(s.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) { e.Since = day })
		}, "True", day},
		{"Synced", "as the context became current that has all of it", func(s *query.Snapshot) { s.Current = day }, "True", day},
		{"Synced", "as the first object ceased to be applied", func(s *query.Snapshot) {
			edit(s.Clusters[berlin], "ConfigMap", retrying(day.Add(time.Hour)))
			edit(s.Clusters[hub], bundle.EndpointKind, retrying(day))
		}, "False", day},
		{"Synced", "as an object of external-dns did", func(s *query.Snapshot) {
			edit(s.Providers[0].Cluster, "Deployment", retrying(day))
		}, "False", day},
		{"Published", "as external-dns synchronized", func(*query.Snapshot) {}, "True", settled()},
		{"Published", "as it did before a release that left the DNSEndpoint as it was", func(s *query.Snapshot) {
			s.Lifecycle.Since = day
		}, "True", settled()},
		{"Published", "as the DNSEndpoint was applied that it has not read", func(s *query.Snapshot) {
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Generation, e.Since = e.Generation+1, day })
		}, "False", day},
		{"Published", "as external-dns stopped to run", func(s *query.Snapshot) {
			s.Providers[0].Observed.Available, s.Providers[0].Observed.Since = false, day
		}, "False", day},
		{"Published", "as external-dns ran again", func(s *query.Snapshot) { s.Providers[0].Observed.Since = day }, "True", day},
		{"Published", "as the DNSEndpoint was applied that it never ran for", func(s *query.Snapshot) {
			s.Providers[0].Observed.Available, s.Providers[0].Observed.Since = false, day
			clear(s.Providers[0].Published)
		}, "False", settled()},
		{"Published", "as the cluster fell silent", func(s *query.Snapshot) {
			s.Providers[0].Cluster.Reachability = &observed.Reachability{Since: day}
		}, "Unknown", day},
		{"Synced", "of what is terminated, as the last object was gone", func(s *query.Snapshot) {
			s.Lifecycle.Wanted, s.Lifecycle.Done = intent.Terminate, day
		}, "True", day},
	} {
		t.Run(c.kind+" "+c.reason, func(t *testing.T) {
			snap := running(t)
			c.given(snap)
			got := condition(t, status.Of(*snap), c.kind)
			require.Equal(t, c.want, got.Status)
			require.Equal(t, c.at, got.LastTransitionTime)
		})
	}
}

// TestOverNamesAConditionTurnsWithTheLastOneToTrueAndWithTheFirstOneFromIt: it
// is the worst of all.
func TestOverNamesAConditionTurnsWithTheLastOneToTrueAndWithTheFirstOneFromIt(t *testing.T) {
	day := settled().Add(24 * time.Hour)
	snap := running(t)
	first := snap.Group.Bindings[0]
	choose(t, snap, "203.0.113.10")
	second := first
	second.Service = "api"
	snap.Group.Bindings[0] = second
	one := *snap
	choose(t, &one, "203.0.113.10")
	require.NotEqual(t, one.Objects, snap.Objects)

	snap.Group.Bindings = append(snap.Group.Bindings[:1:1], first)
	snap.Choices = append(snap.Choices, snap.Choices[0])
	for _, o := range one.Objects {
		if o.Kind == bundle.EndpointKind {
			add(t, snap, o)
		}
	}
	publish(snap)
	at := map[string]time.Time{endpoints.Name(snap.Group, first): day, endpoints.Name(snap.Group, second): day.Add(time.Hour)}
	for name, p := range snap.Providers[0].Published {
		p.At = at[name]
		snap.Providers[0].Published[name] = p
	}
	require.Equal(t, day.Add(time.Hour), condition(t, status.Of(*snap), "Published").LastTransitionTime)

	edit(snap.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Generation, e.Since = e.Generation+1, at[e.ID.Name] })
	got := condition(t, status.Of(*snap), "Published")
	require.Equal(t, "False", got.Status)
	require.Equal(t, day, got.LastTransitionTime)
}
