package status_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func TestPublishedIsWhatExternalDNSWasSeenToPutThrough(t *testing.T) {
	sync := func(s *query.Snapshot, sync *observed.Sync) {
		clear(s.Providers[0].Published)
		s.Providers[0].Observed.Sync = sync
	}
	parameters := func(s *query.Snapshot, name string, value any) {
		s.Providers[0].Record.Spec.Parameters = map[string]any{name: value}
	}
	for _, c := range []struct {
		reason  string
		given   func(s *query.Snapshot)
		want    string
		message string
	}{
		{"it synchronized after it had read the DNSEndpoint", func(*query.Snapshot) {},
			"True/Published", "external-dns synchronized at 2026-11-01T12:01:00Z"},
		{"the DNSEndpoint has changed since", func(s *query.Snapshot) {
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Generation++ })
		}, "False/NotSynchronizedYet", "since the DNSEndpoint changed"},
		{"what was published is somebody's edit, to be put right", func(s *query.Snapshot) {
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Generation-- })
		}, "False/NotSynchronizedYet", ""},
		{"the DNSEndpoint was deleted by hand and made again", func(s *query.Snapshot) {
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.UID = "another" })
		}, "False/NotSynchronizedYet", ""},
		{"it was never seen to synchronize", func(s *query.Snapshot) { sync(s, &observed.Sync{}) },
			"False/NotSynchronizedYet", ""},
		{"its synchronizations fail", func(s *query.Snapshot) { sync(s, &observed.Sync{Failing: "4 have failed"}) },
			"False/SynchronizationFails", "4 have failed"},
		{"they fail since", func(s *query.Snapshot) { s.Providers[0].Observed.Sync.Failing = "4 have failed" },
			"True/Published", ""},
		{"nobody has asked it yet", func(s *query.Snapshot) { sync(s, nil) }, "Unknown/NotObserved", "external-dns has not synchronized since it was asked for the name"},
		{"its metrics may not be read", func(s *query.Snapshot) { sync(s, &observed.Sync{Unread: "pods/proxy is forbidden"}) },
			"Unknown/NotObserved", "pods/proxy is forbidden"},
		{"its cluster is a directory", func(s *query.Snapshot) { s.Providers[0].Observed = nil },
			"Unknown/NotObserved", "cannot be observed on edge+hub"},
		{"its cluster cannot be reached", func(s *query.Snapshot) {
			s.Providers[0].Cluster.Reachability = &observed.Reachability{Message: "no answer in time"}
		}, "Unknown/ClusterUnreachable", "no answer in time"},
		{"it is in a crash loop", func(s *query.Snapshot) {
			s.Providers[0].Observed.Available, s.Providers[0].Observed.Message = false, "crash loop"
		}, "False/ExternalDNSNotAvailable", "crash loop"},
		{"the DNSEndpoint is not applied", func(s *query.Snapshot) {
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Status, e.Message = ledger.Retrying, "quota" })
		}, "False/NotSynced", "quota"},
		{"the record is suspended", func(s *query.Snapshot) { s.Providers[0].Record.Spec.Suspend = true },
			"False/Suspended", "suspended"},
		{"the record runs dry", func(s *query.Snapshot) { parameters(s, "dry-run", true) }, "False/DryRun", "external-dns changes"},
		{"policy create-only may have left the change out", func(s *query.Snapshot) {
			parameters(s, "policy", []any{"Create-Only"})
			edit(s.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Generation++ })
			publish(s)
		}, "Unknown/CreateOnly", "and its policy create-only does not change existing names"},
		{"policy create-only has nothing to change", func(s *query.Snapshot) { parameters(s, "policy", "create-only") },
			"True/Published", ""},
		{"the record runs dry by an argument", func(s *query.Snapshot) { s.Providers[0].Record.Spec.ExtraArgs = []string{"--dry-run"} },
			"False/DryRun", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			c.given(snap)
			s := status.Of(*snap)
			got := s.Names[0].Conditions[3]
			require.Equal(t, "Published="+c.want, summary([]intent.StatusCondition{got}))
			require.Contains(t, got.Message, c.message)
			require.Equal(t, got, condition(t, s, "Published"), "the worst over the names")
		})
	}
}

// An address that changes is chosen at once, and published a moment later.
func TestPublishedSpeaksOfTheTargetsThatAreShown(t *testing.T) {
	snap := running(t)
	was := snap.Objects
	choose(t, snap, "203.0.113.99")
	snap.Objects = was
	s := status.Of(*snap)
	require.Equal(t, []string{"203.0.113.99"}, s.Names[0].Targets)
	require.Equal(t, "Planned=True/Accepted Committed=True/Current Synced=False/Committing Published=False/NotSynced Verified=Unknown/NotAsked",
		summary(s.Names[0].Conditions))
}

func TestProvidersTellHowTheySynchronize(t *testing.T) {
	report := running(t).Providers[0]
	at := settled().Add(time.Hour)
	report.Observed.Sync = &observed.Sync{Last: at, Failing: "its last 4 synchronizations have failed"}
	p := status.Provider(report)
	require.Equal(t, &at, p.LastSync)
	require.Equal(t, "its last 4 synchronizations have failed", p.Message)

	report.Observed.Sync = &observed.Sync{Failing: "www.lab.example keeps changing", Zone: "the DNS server has names of this provider that nobody gives: old.lab.example"}
	require.Equal(t, "www.lab.example keeps changing; the DNS server has names of this provider that nobody gives: old.lab.example", status.Provider(report).Message)

	report.Observed.Sync = &observed.Sync{Unread: "its metrics cannot be read: forbidden"}
	p = status.Provider(report)
	require.Nil(t, p.LastSync, "what was not observed is not said (I6)")
	require.Equal(t, "its metrics cannot be read: forbidden", p.Message)

	report.Cluster.Reachability = &observed.Reachability{Message: "no answer in time"}
	p = status.Provider(report)
	require.Nil(t, p.Available, "what cannot be observed now is not said (I6)")
	require.Contains(t, p.Message, "cannot be reached: this is its last observed state")
}

// TestANameWithoutAddressesSaysWhatTheListSays of each of its clusters, and what to do there. It is general about clusters that may have
// an address.
func TestANameWithoutAddressesSaysWhatTheListSays(t *testing.T) {
	const oslo = "edge+oslo"
	const create, give = ": create it there, or correct the Service or the clusters of the name", ": give it a load balancer or external IPs"
	out := func(cluster, code string) intent.Rejection {
		return intent.Rejection{Target: "203.0.113.10", Cluster: cluster, Code: code}
	}
	for name, c := range map[string]struct {
		choice address.Choice
		scope  intent.Scope
		says   string
	}{
		"no such Service":     {address.Choice{Absent: []string{berlin, oslo}}, "", "there is no Service shop/web on edge/berlin, edge/oslo" + create},
		"drained, no address": {address.Choice{Rejected: []intent.Rejection{out(berlin, address.Drained)}}, "", "Service shop/web on edge/oslo has no address yet" + give + "; edge/berlin is drained: undrain it, or give the name another cluster"},
		"all are drained":     {address.Choice{Rejected: []intent.Rejection{out(berlin, address.Drained), out(oslo, address.Drained)}}, "", "edge/berlin, edge/oslo are drained: undrain one of them, or give the name another cluster"},
		"only inside":         {address.Choice{Rejected: []intent.Rejection{out(berlin, "InsideCluster"), out(oslo, "InsideCluster")}}, "", "Service shop/web on edge/berlin, edge/oslo has only addresses inside its cluster" + give},
		"of the clusters":     {address.Choice{}, intent.ClusterScope, "Service shop/web on edge/berlin, edge/oslo has no address yet: see whether its pods are ready"},
		"not known of one":    {address.Choice{Absent: []string{berlin}, Unknown: []string{oslo}}, "", "no cluster has an address that may be published; there is no Service shop/web on edge/berlin" + create + "; the addresses of Service shop/web on edge/oslo are not known yet"},
		"not its own":         {address.Choice{Foreign: []string{berlin, oslo}}, "", "no cluster has an address that may be published; namespace shop of edge/berlin, edge/oslo belongs to another project: give the intent another namespace, or terminate the group"},
		"only private":        {address.Choice{Rejected: []intent.Rejection{out(berlin, "Private")}}, "", "Service shop/web on edge/oslo has no address yet" + give + "; Service shop/web on edge/berlin has only private addresses, which a public name may have only if its provider has allowPrivate"},
		"told by the address": {address.Choice{Rejected: []intent.Rejection{out(berlin, "Denied"), out(oslo, "Denied")}}, "", "no cluster has an address that may be published"},
	} {
		t.Run(name, func(t *testing.T) {
			snap := running(t)
			choose(t, snap)
			snap.Group.Bindings[0].Sources, snap.Choices[0][0] = []string{berlin, oslo}, c.choice
			snap.Group.Bindings[0].Scope = cmp.Or(c.scope, intent.Public)
			require.Equal(t, c.says, condition(t, status.Of(*snap), "Published").Message)
		})
	}
	snap := running(t)
	choose(t, snap)
	snap.Group.Bindings[0].Hosts[0].Targets = []string{"10.0.0.7"}
	snap.Choices[0][0] = address.Choice{Rejected: []intent.Rejection{{Target: "10.0.0.7", Reason: "private address"}}}
	require.Equal(t, "none of its addresses may be published: 10.0.0.7 (private address)", condition(t, status.Of(*snap), "Published").Message)
}
