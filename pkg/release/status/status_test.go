package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const committed = "Planned=True/Accepted Committed=True/Current "

func TestConditionsAreTheWorstOfWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		reason  string
		given   func(s *query.Snapshot)
		want    string // conditions
		message string // of Synced
	}{
		{"everything is applied", func(*query.Snapshot) {},
			committed + "Synced=True/Applied Published=True/Published Verified=Unknown/NotAsked", "every object is applied"},
		{"nothing was contacted yet", func(s *query.Snapshot) {
			s.Clusters[hub], s.Clusters[berlin] = query.ClusterReport{}, query.ClusterReport{}
			s.Providers[0].Cluster = query.ClusterReport{}
		}, committed + "Synced=False/ResourcePending Published=False/NotSynced Verified=Unknown/NotAsked", ""},
		{"a name's object is not applied yet", func(s *query.Snapshot) { forget(s.Clusters[hub], "DNSEndpoint") },
			committed + "Synced=False/ResourcePending Published=False/NotSynced Verified=Unknown/NotAsked", "DNSEndpoint"},
		{"another content of it is applied", func(s *query.Snapshot) {
			edit(s.Clusters[hub], "DNSEndpoint", func(e *ledger.Entry) { e.Digest = "other" })
		}, committed + "Synced=False/ResourcePending Published=False/NotSynced Verified=Unknown/NotAsked", "DNSEndpoint"},
		{"an object is a conflict", func(s *query.Snapshot) {
			edit(s.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) {
				e.Status, e.Message, e.CreatedByUs, e.Digest = ledger.Failed, "conflict: it is not ours", false, ""
			})
		}, committed + "Synced=False/ResourceFailed Published=True/Published Verified=Unknown/NotAsked", "ConfigMap c on edge+berlin: conflict: it is not ours"},
		{"another owner's content won", func(s *query.Snapshot) {
			edit(s.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) {
				e.Losing, e.Message = []string{string(prod)}, "two owners differ"
			})
		}, committed + "Synced=False/ResourceFailed Published=True/Published Verified=Unknown/NotAsked", "two owners differ"},
		{"external-dns is a conflict", func(s *query.Snapshot) {
			edit(s.Providers[0].Cluster, "Deployment", func(e *ledger.Entry) { e.Status, e.Message = ledger.Failed, "conflict: it is not ours" })
		}, committed + "Synced=False/ProviderNotApplied Published=False/NotSynced Verified=Unknown/NotAsked", "conflict: it is not ours"},
		{"external-dns is not committed", func(s *query.Snapshot) { s.Providers[0].Objects = nil },
			committed + "Synced=False/ProviderNotApplied Published=False/NotSynced Verified=Unknown/NotAsked", "not committed yet"},
		{"external-dns is not available", func(s *query.Snapshot) {
			s.Providers[0].Observed = &observed.Deployment{Message: "0 of 1 replicas"}
		}, committed + "Synced=True/Applied Published=False/ExternalDNSNotAvailable Verified=Unknown/NotAsked", ""},
		{"external-dns cannot be observed", func(s *query.Snapshot) { s.Providers[0].Observed = nil },
			committed + "Synced=True/Applied Published=Unknown/NotObserved Verified=Unknown/NotAsked", ""},
		{"no cluster offers an address", func(s *query.Snapshot) { choose(t, s) },
			committed + "Synced=True/Applied Published=False/NoAddress Verified=Unknown/NotAsked", ""},
		{"there is no name", func(s *query.Snapshot) { choose(t, s); s.Group.Bindings, s.Choices, s.Providers = nil, nil, nil },
			committed + "Synced=True/Applied Published=True/NoNames Verified=True/NoNames", ""},
		{"the context is being written", func(s *query.Snapshot) { s.Committed = false },
			"Planned=True/Accepted Committed=False/Committing Synced=False/Committing Published=True/Published Verified=Unknown/NotAsked", ""},
		{"the context cannot be written", func(s *query.Snapshot) { s.Committed, s.Lifecycle.Failure = false, "too large" },
			"Planned=True/Accepted Committed=False/CommitFailed Synced=False/Committing Published=True/Published Verified=Unknown/NotAsked", ""},
		{"addresses changed and the context did not yet", func(s *query.Snapshot) { drop(s, "DNSEndpoint") },
			committed + "Synced=False/Committing Published=False/NotSynced Verified=Unknown/NotAsked", ""},
		{"an earlier provider is draining", func(s *query.Snapshot) {
			draining := s.Providers[0]
			draining.Draining, draining.Use.Cluster, draining.Cluster = true, "edge+old", query.ClusterReport{}
			s.Providers = append(s.Providers, draining)
		}, committed + "Synced=True/Applied Published=True/Published Verified=Unknown/NotAsked", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			c.given(snap)
			s := status.Of(*snap)
			require.Equal(t, c.want, summary(s.Conditions))
			require.Contains(t, condition(t, s, "Synced").Message, c.message)
		})
	}
}

// TestTheWorstNameDecides: wherever it stands in the list.
func TestTheWorstNameDecides(t *testing.T) {
	for _, second := range []string{"aaa.lab.example", "zzz.lab.example"} {
		snap := running(t)
		other := snap.Group.Bindings[0]
		other.Service, other.Hosts = "other", []plan.Host{{Name: second}}
		snap.Group.Bindings = append(snap.Group.Bindings, other)
		snap.Choices = append(snap.Choices, []address.Choice{{}})
		s := status.Of(*snap)
		require.Len(t, s.Names, 2)
		require.Equal(t, committed+"Synced=True/Applied Published=False/NoAddress Verified=Unknown/NotAsked", summary(s.Conditions), second)
	}
}

// TestNothingIsAppliedWithoutAnEntry: whatever else is known (I6).
func TestNothingIsAppliedWithoutAnEntry(t *testing.T) {
	snap := running(t)
	for name := range snap.Clusters {
		snap.Clusters[name] = query.ClusterReport{Reachability: &observed.Reachability{Reachable: true}}
	}
	snap.Providers[0].Cluster = query.ClusterReport{}
	s := status.Of(*snap)
	require.Equal(t, []string{"DNSEndpoint web Pending"}, resources(s, hub))
	require.Equal(t, []string{"ConfigMap c Pending"}, resources(s, berlin))
	for _, name := range s.Names {
		for _, c := range name.Conditions {
			if c.Type != "Planned" && c.Type != "Committed" {
				require.NotEqual(t, "True", c.Status, c.Type)
			}
		}
	}
	require.Equal(t, "False", condition(t, s, "Synced").Status)
	require.Contains(t, s.Providers[0].Message, "Deployment external-dns-lab is Pending")
}

func TestClustersTellWhetherTheyCanBeReached(t *testing.T) {
	snap := running(t)
	snap.Clusters[berlin] = query.ClusterReport{Reachability: &observed.Reachability{Message: "connection refused"}}
	snap.Clusters["edge+paris"] = query.ClusterReport{}
	snap.Group.Bindings[0].Sources = append(snap.Group.Bindings[0].Sources, "edge+paris")
	s := status.Of(*snap)
	require.Equal(t, []string{"ConfigMap c Retrying: the cluster cannot be reached"}, resources(s, berlin))
	require.Equal(t, "berlin", s.Clusters[0].Cluster, "in order")
	require.False(t, s.Clusters[0].Reachable)
	require.Equal(t, "connection refused", s.Clusters[0].Message)
	require.True(t, s.Clusters[1].Reachable)
	require.Equal(t, "not contacted yet", s.Clusters[2].Message)
	require.False(t, s.Clusters[2].Reachable)
}

// TestOfAClusterThatNobodyLooksAtNothingIsSaid: not that it was not contacted
// yet, either.
func TestOfAClusterThatNobodyLooksAtNothingIsSaid(t *testing.T) {
	snap := running(t)
	snap.Clusters["edge+paris"] = query.ClusterReport{}
	require.Len(t, status.Of(*snap).Clusters, 2, "nothing of the group is on paris")

	snap.Lifecycle.Wanted = intent.Terminate
	snap.Objects = nil
	snap.Clusters = map[string]query.ClusterReport{hub: {}, berlin: {}}
	require.Equal(t, []intent.ClusterStatus{}, status.Of(*snap).Clusters, "all of it is gone")
	snap.Clusters[hub] = query.ClusterReport{Reachability: &observed.Reachability{Reachable: true}}
	require.Len(t, status.Of(*snap).Clusters, 1, "others are served there")
}

func TestARejectedTargetIsListedOnceWhereItWouldHaveBeen(t *testing.T) {
	snap := running(t)
	choose(t, snap, "203.0.113.10", "2001:db8::10", "10.1.2.3", "fd00::1", "lb.example")
	got := map[string][]string{}
	for _, name := range status.Of(*snap).Names {
		for _, r := range name.Rejected {
			got[name.Type] = append(got[name.Type], r.Target)
		}
	}
	require.Equal(t, map[string][]string{"A": {"10.1.2.3", "lb.example"}, "AAAA": {"fd00::1"}}, got)
}

// TestThatNoWorkerRunsIsTold: what clusters have may be otherwise by now (I6).
func TestThatNoWorkerRunsIsTold(t *testing.T) {
	snap := running(t)
	require.Empty(t, status.Of(*snap).Message)
	snap.Idle = true
	require.Contains(t, status.Of(*snap).Message, "no worker is running: clusters are shown as last observed")
	snap.Lifecycle.Failure = "too large"
	require.Regexp(t, "^no worker is running: .*; too large$", status.Of(*snap).Message, "and hides nothing else")
}

func TestMessagesAreWhole(t *testing.T) {
	snap := running(t)
	forget(snap.Clusters[berlin], "ConfigMap")
	require.Equal(t, "ConfigMap c on edge+berlin: it is Pending", condition(t, status.Of(*snap), "Synced").Message)
	edit(snap.Clusters[hub], bundle.EndpointKind, func(e *ledger.Entry) { e.Digest = "of before" })
	require.Equal(t, "the DNSEndpoint is Pending", status.Of(*snap).Names[0].Conditions[2].Message)
	require.Equal(t, "the DNSEndpoint is Pending", condition(t, status.Of(*snap), "Published").Message)
}

func TestOfManyObjectsTheFirstIsTold(t *testing.T) {
	snap := running(t)
	for _, name := range []string{"a", "b", "c"} {
		snap.Providers[0].Objects = append(snap.Providers[0].Objects, object(t, hub, "v1", "ServiceAccount", "shop-dns", name))
	}
	snap.Providers[0].Cluster.Entries = nil
	require.Equal(t, "Deployment external-dns-lab is Pending; 3 more of its objects are not applied either", status.Of(*snap).Providers[0].Message)
}

// TestAnAbandonedClusterSaysSo: and nothing is claimed of what is there (I6),
// whatever was last seen.
func TestAnAbandonedClusterSaysSo(t *testing.T) {
	given := &intent.Abandoned{Since: accepted(), Actor: "ann"}
	for _, c := range []struct {
		reason    string
		abandoned string
		want      string
		message   string // of Synced
	}{
		{"the app's cluster", berlin,
			committed + "Synced=False/ResourceFailed Published=True/Published Verified=Unknown/NotAsked", "ConfigMap c on edge+berlin: the cluster is abandoned"},
		{"the home of external-dns", hub,
			committed + "Synced=False/ResourceFailed Published=Unknown/ClusterAbandoned Verified=Unknown/NotAsked", "the cluster is abandoned"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			report := query.ClusterReport{Reachability: &observed.Reachability{Reachable: true}, Abandoned: given}
			snap.Clusters[c.abandoned] = report
			if c.abandoned == hub {
				snap.Providers[0].Cluster = report
			}
			s := status.Of(*snap)
			require.Equal(t, c.want, summary(s.Conditions))
			require.Contains(t, condition(t, s, "Synced").Message, c.message)
			for _, cluster := range s.Clusters {
				require.Equal(t, cluster.ClusterRef.String() != c.abandoned, cluster.Reachable)
				require.Equal(t, !cluster.Reachable, strings.Contains(cluster.Message, "abandoned by ann at 2026-11-01T12:00:00Z"))
			}
		})
	}
}

func TestWhatIsInAnAbandonedClusterIsNotSaidToBeGone(t *testing.T) {
	snap := running(t)
	snap.Lifecycle.Wanted = intent.Terminate
	require.Equal(t, "no object is left in any cluster", condition(t, status.Of(*snap), "Synced").Message)
	snap.Clusters[berlin] = query.ClusterReport{Abandoned: &intent.Abandoned{}}
	require.Equal(t, "no object is left in any served cluster; objects in edge+berlin stay, because the cluster is abandoned",
		condition(t, status.Of(*snap), "Synced").Message)
}

func TestAProviderOnAnAbandonedClusterIsNotSaidToRun(t *testing.T) {
	report := running(t).Providers[0]
	report.Cluster = query.ClusterReport{Abandoned: &intent.Abandoned{}}
	p := status.Provider(report)
	require.Nil(t, p.Available)
	require.Nil(t, p.LastSync)
	require.Contains(t, p.Message, "its cluster is abandoned: published names stay")
}

func TestNamesTellTheirTargetsAndWhereTheyComeFrom(t *testing.T) {
	for _, c := range []struct {
		reason  string
		offered []string
		want    []string // type and targets
		sources int
	}{
		{"one address", []string{"203.0.113.10"}, []string{"A 203.0.113.10"}, 1},
		{"both families", []string{"2001:db8::1", "203.0.113.10"}, []string{"A 203.0.113.10", "AAAA 2001:db8::1"}, 2},
		{"a host name", []string{"LB.example."}, []string{"CNAME lb.example"}, 1},
		{"nothing", nil, []string{"A "}, 0},
		{"what may not be published", []string{"10.1.2.3"}, []string{"A "}, 0},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := running(t)
			choose(t, snap, c.offered...)
			s := status.Of(*snap)
			var got []string
			sources := 0
			for _, name := range s.Names {
				require.Equal(t, "www.lab.example", name.Name)
				require.NotNil(t, name.Targets, "lists are never null")
				require.NotNil(t, name.Sources)
				require.NotNil(t, name.Rejected)
				target := ""
				if len(name.Targets) > 0 {
					target = name.Targets[0]
				}
				got = append(got, name.Type+" "+target)
				sources += len(name.Sources)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.sources, sources)
		})
	}
	snap := running(t)
	choose(t, snap, "10.1.2.3")
	name := status.Of(*snap).Names[0]
	require.Equal(t, "10.1.2.3", name.Rejected[0].Target)
	require.Contains(t, name.Rejected[0].Reason, "private")
	require.Equal(t, "Planned=True/Accepted Committed=True/Current Synced=True/NothingToApply Published=False/NoAddress Verified=Unknown/NotAsked", summary(name.Conditions))
}

func TestProvidersTellWhatIsWrong(t *testing.T) {
	snap := running(t)
	ok := status.Provider(snap.Providers[0])
	require.True(t, *ok.Available)
	require.Equal(t, intent.ProviderStatus{Record: "lab", Cluster: hub, Scope: intent.Public, Version: "v0.22.0", Available: ok.Available, LastSync: new(settled())}, ok)

	report := snap.Providers[0]
	edit(report.Cluster, "Deployment", func(e *ledger.Entry) { e.Status, e.Message = ledger.Failed, "conflict: it is not ours" })
	report.Observed = &observed.Deployment{Message: "0 of 1 replicas are ready"}
	report.Draining = true
	wrong := status.Provider(report)
	require.False(t, *wrong.Available)
	require.Equal(t, "Deployment external-dns-lab is Failed: conflict: it is not ours; it stays until its names are removed; 0 of 1 replicas are ready", wrong.Message)

	report.Observed, report.Draining = &observed.Deployment{Message: "it does not work since noon: connection refused", Sync: &observed.Sync{Failing: "connection refused"}}, false
	require.Equal(t, "Deployment external-dns-lab is Failed: conflict: it is not ours; it does not work since noon: connection refused", status.Provider(report).Message, "the cause is told once")

	report.Observed, report.Objects = nil, nil
	require.Nil(t, status.Provider(report).Available, "what cannot be observed is not said")
}

// terminating is a snapshot of a group that is being terminated: its ConfigMap
// is still there, its external-dns drains.
func terminating(t *testing.T) *query.Snapshot {
	snap := running(t)
	snap.Lifecycle.Wanted, snap.Lifecycle.Settled, snap.Lifecycle.Done = intent.Terminate, false, accepted()
	snap.Lifecycle.Draining, snap.Lifecycle.Uses = snap.Lifecycle.Uses, nil
	snap.Going, snap.Objects = snap.Objects, nil
	snap.Providers[0].Draining = true
	forget(snap.Clusters[hub], "DNSEndpoint")
	edit(snap.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) { e.Going = true })
	return snap
}

func TestTerminatingTellsWhatIsStillThere(t *testing.T) {
	for _, c := range []struct {
		reason  string
		given   func(s *query.Snapshot)
		state   intent.State
		want    string
		message string
	}{
		{"an object is left", func(*query.Snapshot) {}, intent.Terminating, "Synced=False/Deleting", "ConfigMap c is still on edge+berlin"},
		{"external-dns drains", func(s *query.Snapshot) { forget(s.Clusters[berlin], "ConfigMap") }, intent.Terminating, "Synced=False/Draining", "external-dns of provider lab: it stays until its names are removed"},
		{"a built-in publisher drains", func(s *query.Snapshot) {
			forget(s.Clusters[berlin], "ConfigMap")
			s.Providers[0].Use.Cluster = "_publisher.shop+lab"
		}, intent.Terminating, "Synced=False/Draining", "the built-in publisher of provider lab: it stays until its names are removed"},
		{"a cluster that an update dropped holds objects", func(s *query.Snapshot) {
			forget(s.Clusters[berlin], "ConfigMap")
			s.Providers, s.Lifecycle.RemovedClusters = nil, []string{"edge+old"}
		}, intent.Terminating, "Synced=False/Deleting", "objects of an earlier revision are still on edge+old"},
		{"nobody has confirmed it yet", func(s *query.Snapshot) { forget(s.Clusters[berlin], "ConfigMap"); s.Providers = nil }, intent.Terminating, "Synced=False/Deleting", ""},
		{"the cluster uses it for others", func(s *query.Snapshot) {
			edit(s.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) { e.Going = false })
			s.Providers = nil
		}, intent.Terminating, "Synced=False/Deleting", "objects are being deleted"},
		{"it is over", func(s *query.Snapshot) {
			s.Lifecycle.Settled, s.Lifecycle.Done, s.Providers = true, settled(), nil
			forget(s.Clusters[berlin], "ConfigMap")
		}, intent.Terminated, "Synced=True/Gone", "no object is left"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := terminating(t)
			c.given(snap)
			s := status.Of(*snap)
			require.Equal(t, c.state, s.State)
			require.Equal(t, "Planned=True/Accepted Committed=True/Withdrawn "+c.want, summary(s.Conditions))
			require.Contains(t, condition(t, s, "Synced").Message, c.message)
			require.Equal(t, []intent.NameStatus{}, s.Names)
		})
	}
	require.Equal(t, []string{"ConfigMap c Applied: to be deleted"}, resources(status.Of(*terminating(t)), berlin))
}

func TestWhatOthersHaveIsNoneOfTheGroups(t *testing.T) {
	snap := terminating(t)
	edit(snap.Clusters[berlin], "ConfigMap", func(e *ledger.Entry) { e.CreatedByUs = false })
	require.Empty(t, resources(status.Of(*snap), berlin))
}

func TestAGroupWithoutReleaseHasNothingToTell(t *testing.T) {
	s := status.Of(query.Snapshot{})
	require.Equal(t, intent.Created, s.State)
	require.Equal(t, intent.Status{
		State: intent.Created, Conditions: []intent.StatusCondition{}, Clusters: []intent.ClusterStatus{},
		Providers: []intent.ProviderStatus{}, Names: []intent.NameStatus{},
	}, s)
}

func TestFailedTellsWhy(t *testing.T) {
	snap := running(t)
	snap.Lifecycle.Failure = "too large"
	s := status.Of(*snap)
	require.Equal(t, intent.Failed, s.State)
	require.Equal(t, "too large", s.Message)
	require.Equal(t, "too large", condition(t, s, "Committed").Message)
}

func TestLeftoversAreListed(t *testing.T) {
	snap := terminating(t)
	snap.Lifecycle.Leftovers = []intent.Leftover{{Name: "www.lab.example", Type: "A", Record: "lab", Reason: "policy"}}
	require.Equal(t, snap.Lifecycle.Leftovers, status.Of(*snap).Leftovers)
}

func TestRecordsTellWhereTheyAreDeployed(t *testing.T) {
	home := intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}
	record := query.RecordSnapshot{
		Lifecycle: state.RecordLifecycle{Seq: 3, Record: plan.Record{Home: &home, OwnerID: "sp-1", Version: "v0.22.0"}},
		Providers: running(t).Providers,
	}
	s := status.OfRecord(record)
	require.Equal(t, intent.HomeOf(&home), s.Home)
	require.Equal(t, int64(3), s.Revision)
	require.Equal(t, []intent.Deployment{{Scope: intent.Public, Home: intent.Home{ClusterProvider: "edge", Cluster: "hub"}, OwnerID: "sp-1", Version: "v0.22.0"}}, s.Deployments)
	require.Len(t, s.Providers, 1)

	builtIn := record
	builtIn.Lifecycle.Record.Spec.DeployOn = &intent.Home{Publisher: intent.BuiltIn}
	builtIn.Providers[0].Use.Cluster = "_publisher.shop+lab"
	require.Empty(t, status.OfRecord(builtIn).Version, "it was not seen to write yet")
	builtIn.Providers[0].Observed = &observed.Deployment{Sync: &observed.Sync{Version: "v0.1.0"}}
	s = status.OfRecord(builtIn)
	require.Equal(t, []string{"v0.1.0", "v0.1.0", "v0.1.0"}, []string{s.Version, s.Deployments[0].Version, s.Providers[0].Version}, "Signpost's own, not that of external-dns")

	unused := status.OfRecord(query.RecordSnapshot{})
	require.Equal(t, intent.RecordStatus{Providers: []intent.ProviderStatus{}, Deployments: []intent.Deployment{}}, unused)
}

// TestASuspendedGroupClaimsNothingOfItsObjects: nobody looks after them (I6).
func TestASuspendedGroupClaimsNothingOfItsObjects(t *testing.T) {
	snap := running(t)
	snap.Suspended = true
	s := status.Of(*snap)
	require.Equal(t, intent.Instantiated, s.State)
	require.Contains(t, s.Message, "suspended")
	require.Equal(t, "Unknown/Suspended", condition(t, s, "Synced").Status+"/"+condition(t, s, "Synced").Reason)
	require.Equal(t, "Unknown/Suspended", condition(t, s, "Published").Status+"/"+condition(t, s, "Published").Reason)
	require.Equal(t, []string{"203.0.113.10"}, s.Names[0].Targets)

	snap.Committed = false
	s = status.Of(*snap)
	require.Equal(t, "False/Suspended", condition(t, s, "Committed").Status+"/"+condition(t, s, "Committed").Reason)
}

func TestASuspendedRecordSaysSo(t *testing.T) {
	snap := running(t)
	snap.Providers[0].Record.Spec.Suspend = true
	s := status.Of(*snap)
	require.Contains(t, s.Providers[0].Message, "the provider is suspended: external-dns does not run")
	require.Equal(t, "False/Suspended", condition(t, s, "Published").Status+"/"+condition(t, s, "Published").Reason)
}

// TestNoAddressOfTheRecordTypes: there is no DNSEndpoint then, and none is
// waited for.
func TestNoAddressOfTheRecordTypes(t *testing.T) {
	snap := running(t)
	snap.Group.Bindings[0].Hosts[0].Types = []string{"AAAA"}
	choose(t, snap, "203.0.113.10")
	s := status.Of(*snap)
	require.Equal(t, "Planned=True/Accepted Committed=True/Current Synced=True/NothingToApply Published=False/NoAddress Verified=Unknown/NotAsked", summary(s.Names[0].Conditions))
	require.Contains(t, condition(t, s, "Published").Message, "recordTypes")
}
