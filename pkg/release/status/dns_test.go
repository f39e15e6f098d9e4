package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const eu intent.Path = "projects/shop/logical-clouds/eu"

// resolving is the snapshot of a logical cloud with DNS on one cluster, whose
// placement two of three nodes suit.
func resolving() *query.Snapshot {
	asked := placement.Placement{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}}
	verdict := &placement.Verdict{Nodes: 3, Suitable: 2, Excluded: []placement.Exclusion{{Reason: "label kubernetes.io/os=linux is missing", Nodes: 1}}}
	return &query.Snapshot{
		Owner: appcontext.Owner(eu), Group: plan.Group{Path: eu}, Committed: true,
		Lifecycle: state.Lifecycle{Wanted: intent.Instantiate, Seq: 1, ContextID: "42", Settled: true, Since: accepted(), Done: settled()},
		Clusters:  map[string]query.ClusterReport{berlin: reachable()},
		DNS: []render.DNSReport{{
			ClusterDNS: plan.ClusterDNS{
				Intent: "resolvers", Cluster: berlin, Domain: "cluster.local",
				Spec: intent.DNSCRIntent{Mode: intent.Dedicated, Namespace: "signpost-dns"},
			},
			Judged: true, Asked: asked, Verdict: verdict, InUse: &asked, Remains: verdict, Address: "10.96.0.53",
			Pods: &observed.DaemonSet{Available: true, Desired: 2, Ready: 2},
		}},
	}
}

func TestTheStatusOfALogicalCloudTellsItsDNS(t *testing.T) {
	s := status.Of(*resolving())
	assert.Equal(t, "Planned=True/Accepted Committed=True/Current Synced=True/Applied Placed=True/NodesSuitable Available=True/PodsReady", summary(s.Conditions))
	yes := true
	require.Equal(t, []intent.DNSStatus{{
		ClusterRef: intent.ClusterRef{ClusterProvider: "edge", Cluster: "berlin"}, Intent: "resolvers", Mode: intent.Dedicated,
		Namespace: "signpost-dns", Domain: "cluster.local", Address: "10.96.0.53", Available: &yes,
		Placement: &intent.PlacementStatus{Current: true, Nodes: 3, Suitable: 2, Excluded: []intent.NodeExclusion{
			{Reason: "label kubernetes.io/os=linux is missing", Nodes: 1},
		}},
	}}, s.DNS)
}

func TestPlacedIsTheWorstOfAllClusters(t *testing.T) {
	none := &placement.Verdict{Nodes: 2, Excluded: []placement.Exclusion{{Reason: "taint dns-only:NoSchedule is not tolerated", Nodes: 2}}}
	for _, c := range []struct {
		reason  string
		given   func(r *render.DNSReport)
		want    string
		message string
	}{
		{"the last suitable node is gone", func(r *render.DNSReport) { r.Verdict, r.Remains = none, none },
			"False/NoSuitableNode", "edge+berlin: the last suitable node is gone: 0 of 2 nodes are suitable: taint dns-only:NoSchedule is not tolerated on 2"},
		{"nothing was made at first", func(r *render.DNSReport) { r.Verdict, r.InUse, r.Remains = none, nil, nil },
			"False/NoSuitableNode", "edge+berlin: the placement leaves no node, so no DNS is deployed"},
		{"the previous one stays", func(r *render.DNSReport) { r.Verdict, r.InUse = none, &placement.Placement{} },
			"False/NoSuitableNode", "edge+berlin: the placement leaves no node, so the previous one stays"},
		{"nobody has looked yet", func(r *render.DNSReport) { r.Verdict, r.InUse, r.Remains = nil, nil, nil },
			"Unknown/NodesUnknown", "edge+berlin: the nodes are not known yet"},
		{"it cannot be checked in a directory", func(r *render.DNSReport) { r.Judged, r.Verdict = false, nil },
			"Unknown/NodesUnknown", "edge+berlin: the placement cannot be checked in a directory"},
		{"it is somebody else's CoreDNS", func(r *render.DNSReport) { r.Judged, r.Verdict, r.Spec.Mode = false, nil, intent.Import },
			"True/NodesSuitable", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := resolving()
			c.given(&snap.DNS[0])
			snap.DNS = append(snap.DNS, resolving().DNS...)
			placed := condition(t, status.Of(*snap), "Placed")
			assert.Equal(t, c.want, placed.Status+"/"+placed.Reason)
			assert.Contains(t, placed.Message, c.message)
		})
	}
}

// TestFailingUpstreamsAreShown is seed 000's gap: upstreams that fail their
// health checks are told.
func TestFailingUpstreamsAreShown(t *testing.T) {
	snap := resolving()
	snap.DNS[0].Pods.DNS = &observed.DNS{
		Upstreams: []observed.Upstream{{Address: "1.2.3.4:53", Since: accepted()}, {Address: "5.6.7.8:5353", Failing: true, Since: settled()}},
		Unread:    "the metrics of pod b cannot be read",
	}
	got := status.Of(*snap).DNS[0]
	assert.Equal(t, []intent.UpstreamStatus{
		{Address: "1.2.3.4:53", Healthy: true, Since: accepted(), Message: "this may be outdated: the metrics of pod b cannot be read"},
		{Address: "5.6.7.8:5353", Since: settled(), Message: "it fails the health checks of CoreDNS; this may be outdated: the metrics of pod b cannot be read"},
	}, got.Upstreams)
	assert.Equal(t, "the metrics of pod b cannot be read; upstream 5.6.7.8:5353 fails health checks", got.Message)
}

func TestAvailableIsTheWorstOfAllClusters(t *testing.T) {
	for _, c := range []struct {
		reason  string
		given   func(s *query.Snapshot)
		want    string
		message string
	}{
		{"pods are not ready", func(s *query.Snapshot) {
			s.DNS[0].Pods = &observed.DaemonSet{Message: "1 of 2 pods are ready", Desired: 2, Ready: 1}
		}, "False/PodsNotReady", "edge+berlin: 1 of 2 pods are ready"},
		{"they cannot be observed", func(s *query.Snapshot) { s.DNS[0].Pods = nil }, "Unknown/NotObserved", "edge+berlin"},
		{"the cluster cannot be reached", func(s *query.Snapshot) {
			s.Clusters[berlin] = query.ClusterReport{Reachability: &observed.Reachability{Message: "connection refused"}}
		}, "Unknown/NotObserved", "edge+berlin"},
		{"the cluster is abandoned", func(s *query.Snapshot) {
			s.Clusters[berlin] = abandonedByAnn()
		}, "Unknown/NotObserved", "edge+berlin: the state of the DNS pods is not known; the cluster is abandoned"},
		{"none were made, for no node suits", func(s *query.Snapshot) {
			s.DNS[0].Verdict, s.DNS[0].InUse, s.DNS[0].Pods = &placement.Verdict{Nodes: 1}, nil, nil
		}, "False/NotPlaced", "edge+berlin: the placement leaves no node, so no DNS is deployed"},
		{"none were made yet", func(s *query.Snapshot) { s.DNS[0].Verdict, s.DNS[0].InUse, s.DNS[0].Pods = nil, nil, nil }, "Unknown/NotObserved", "edge+berlin"},
		{"it is somebody else's CoreDNS", func(s *query.Snapshot) {
			s.DNS[0].Judged, s.DNS[0].Pods, s.DNS[0].Spec.Mode = false, nil, intent.Import
		}, "True/PodsReady", ""},
		{"a directory runs no pods", func(s *query.Snapshot) { s.DNS[0].Judged, s.DNS[0].Pods = false, nil }, "Unknown/NotObserved", "edge+berlin"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := resolving()
			c.given(snap)
			got := condition(t, status.Of(*snap), "Available")
			assert.Equal(t, c.want, got.Status+"/"+got.Reason)
			assert.Contains(t, got.Message, c.message)
		})
	}
}

func TestADNSThatIsTerminatedIsNotReported(t *testing.T) {
	snap := resolving()
	snap.Lifecycle.Wanted = intent.Terminate
	assert.Empty(t, status.Of(*snap).DNS)
}

// abandonedByAnn answered when it was last seen.
func abandonedByAnn() query.ClusterReport {
	report := reachable()
	report.Abandoned = &intent.Abandoned{Since: settled(), Actor: "ann"}
	return report
}

// TestDNSThatNobodySeesIsNotClaimed: how it was last seen is told as such, and
// no condition is drawn from it (I6).
func TestDNSThatNobodySeesIsNotClaimed(t *testing.T) {
	none := &placement.Verdict{Nodes: 2, Excluded: []placement.Exclusion{{Reason: "taint dns-only:NoSchedule is not tolerated", Nodes: 2}}}
	for _, c := range []struct {
		why    string
		report query.ClusterReport
	}{
		{"the cluster is abandoned: this is its last observed state", abandonedByAnn()},
		{"the cluster cannot be reached: this is its last observed state", query.ClusterReport{Reachability: &observed.Reachability{}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			snap := resolving()
			snap.Clusters[berlin] = c.report
			snap.DNS[0].Pods.DNS = &observed.DNS{Upstreams: []observed.Upstream{{Address: "1.2.3.4:53", Since: accepted()}}}
			s := status.Of(*snap)
			for _, kind := range []string{"Placed", "Available"} {
				got := condition(t, s, kind)
				assert.Equal(t, "Unknown/NotObserved", got.Status+"/"+got.Reason, kind)
				assert.Contains(t, got.Message, c.why)
			}
			assert.Nil(t, s.DNS[0].Available)
			assert.Equal(t, c.why, s.DNS[0].Message)
			assert.Equal(t, c.why, s.DNS[0].Upstreams[0].Message)
			assert.Equal(t, 3, s.DNS[0].Placement.Nodes, "what was last seen is told")
			assert.Equal(t, c.why, s.DNS[0].Placement.Message)

			snap.DNS[0].Verdict, snap.DNS[0].Remains = none, none
			assert.Equal(t, "Unknown", condition(t, status.Of(*snap), "Placed").Status, "a node may have come since")
			snap.DNS[0].Judged, snap.DNS[0].Verdict, snap.DNS[0].Spec.Mode = false, nil, intent.Import
			assert.Equal(t, "True", condition(t, status.Of(*snap), "Placed").Status, "somebody else's CoreDNS is placed by them")
		})
	}
}

// TestSyncedNamesTheClustersWithoutDNS: that nothing is missing says nothing of
// a DNS that was never made.
func TestSyncedNamesTheClustersWithoutDNS(t *testing.T) {
	snap := resolving()
	assert.Equal(t, "every object is applied", condition(t, status.Of(*snap), "Synced").Message)
	snap.DNS[0].Verdict, snap.DNS[0].InUse, snap.DNS[0].Remains = &placement.Verdict{Nodes: 2}, nil, nil
	got := condition(t, status.Of(*snap), "Synced")
	assert.Equal(t, "True", got.Status)
	assert.Equal(t, "every object that can be placed is applied; no DNS is deployed on edge+berlin", got.Message)
}

// withCaches is resolving with a cache on each node, on which pods depend that
// have their search paths walked.
func withCaches() *query.Snapshot {
	snap := resolving()
	snap.DNS[0].Spec.Autopath = &intent.Autopath{}
	snap.DNS[0].Caches = &observed.DaemonSet{Available: true, Desired: 3, Ready: 3, DNS: &observed.DNS{}}
	return snap
}

// What is wrong with one cluster comes before what is not known of others.
func TestAvailableNamesEveryClusterOfWhichItIsNotKnown(t *testing.T) {
	snap := withCaches()
	snap.DNS = append(snap.DNS, snap.DNS[0], snap.DNS[0])
	snap.DNS[0].Pods, snap.DNS[2].Caches, snap.DNS[2].Cluster = nil, nil, "edge+paris"
	available := condition(t, status.Of(*snap), "Available")
	assert.Equal(t, "Unknown", available.Status)
	assert.Equal(t, "edge+berlin: the state of the DNS pods is not known; edge+paris: the state of the caches on the nodes is not known", available.Message)
	snap.DNS[1].Pods = &observed.DaemonSet{Message: "1 of 2 pods are ready"}
	assert.Equal(t, "edge+berlin: 1 of 2 pods are ready", condition(t, status.Of(*snap), "Available").Message, "what is wrong comes first")
}

func TestTheCachesOnTheNodesAreToldClusterByCluster(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		reason    string
		given     func(s *query.Snapshot)
		want      intent.NodeCacheStatus
		available string
	}{
		{"they do well", func(*query.Snapshot) {}, intent.NodeCacheStatus{LocalIP: "169.254.20.10", Available: &yes}, "True/PodsReady"},
		{"elsewhere", func(s *query.Snapshot) {
			s.DNS[0].Spec.NodeLocalDNS = &intent.NodeLocalDNS{Enabled: true, LocalIP: "fd00::10"}
		}, intent.NodeCacheStatus{LocalIP: "fd00::10", Available: &yes}, "True/PodsReady"},
		{"one is not ready", func(s *query.Snapshot) {
			s.DNS[0].Caches.Available, s.DNS[0].Caches.Message = false, "2 of 3 pods are ready"
		},
			intent.NodeCacheStatus{LocalIP: "169.254.20.10", Available: &no, Message: "2 of 3 pods are ready"}, "False/CachesNotReady"},
		{"nobody has seen them", func(s *query.Snapshot) { s.DNS[0].Caches = nil },
			intent.NodeCacheStatus{LocalIP: "169.254.20.10", Message: "the state of the caches is not known yet"}, "Unknown/NotObserved"},
		{"a directory runs none", func(s *query.Snapshot) { s.DNS[0].Judged, s.DNS[0].Caches = false, nil },
			intent.NodeCacheStatus{LocalIP: "169.254.20.10", Message: "the state of the caches in a directory is unknown"}, "Unknown/NotObserved"},
		{"the cluster cannot be reached", func(s *query.Snapshot) {
			s.Clusters[berlin] = query.ClusterReport{Reachability: &observed.Reachability{Message: "connection refused"}}
		}, intent.NodeCacheStatus{LocalIP: "169.254.20.10", Message: "the cluster cannot be reached: this is its last observed state"}, "Unknown/NotObserved"},
		{"they do not reach the cluster's DNS", func(s *query.Snapshot) {
			s.DNS[0].Caches.DNS.Upstreams = []observed.Upstream{{Address: "10.96.0.53:53", Failing: true}}
		}, intent.NodeCacheStatus{LocalIP: "169.254.20.10", Available: &yes, Message: "the cluster's DNS at 10.96.0.53:53 fails health checks"}, "True/PodsReady"},
		{"their metrics cannot be read", func(s *query.Snapshot) { s.DNS[0].Caches.DNS.Unread = "connection refused" },
			intent.NodeCacheStatus{LocalIP: "169.254.20.10", Available: &yes, Message: "connection refused"}, "True/PodsReady"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			snap := withCaches()
			c.given(snap)
			s := status.Of(*snap)
			require.Equal(t, &c.want, s.DNS[0].NodeCache)
			available := condition(t, s, "Available")
			assert.Equal(t, c.available, available.Status+"/"+available.Reason)
			assert.NotContains(t, s.DNS[0].Message, "caches", "what is wrong with them is told with them")
		})
	}
	assert.Nil(t, status.Of(*resolving()).DNS[0].NodeCache, "there are none")
}

// TestAServerThatDoesNotKnowTheOptionIsReported: names resolve, but at the cost
// that autopath is to save. Where search paths do not come in an option, that
// is long ago.
func TestAServerThatDoesNotKnowTheOptionIsReported(t *testing.T) {
	snap := withCaches()
	snap.DNS[0].Caches.DNS.Unsupported = new(true)
	assert.Contains(t, status.Of(*snap).DNS[0].NodeCache.Message, "does not know the EDNS0 option with search paths")
	snap.DNS[0].Caches.DNS.Unsupported = new(false)
	assert.Empty(t, status.Of(*snap).DNS[0].NodeCache.Message)
	snap.DNS[0].Caches.DNS.Unsupported = new(true)
	snap.DNS[0].Spec = intent.DNSCRIntent{Mode: intent.Dedicated, NodeLocalDNS: &intent.NodeLocalDNS{Enabled: true}}
	assert.Empty(t, status.Of(*snap).DNS[0].NodeCache.Message)
}
