package status

import (
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// dns reports how the DNS of each cluster of a logical cloud is doing.
func dns(snap release.Snapshot) []intent.DNSStatus {
	var out []intent.DNSStatus
	for _, r := range snap.DNS {
		ref, _ := release.ParseCluster(r.Cluster)
		s := intent.DNSStatus{
			ClusterRef: ref, Intent: r.Intent, Mode: r.Spec.Mode, Namespace: r.Spec.Namespace, Domain: r.Domain,
			Address: r.Address, Message: r.Message(),
		}
		if r.Judged {
			s.Placement = placement(r)
		}
		out = append(out, s)
	}
	return out
}

func placement(r release.DNSReport) *intent.PlacementStatus {
	p := &intent.PlacementStatus{Current: r.Current(), Message: r.Message()}
	if r.Verdict == nil {
		return p
	}
	p.Nodes, p.Suitable = r.Verdict.Nodes, r.Verdict.Suitable
	for _, e := range r.Verdict.Excluded {
		p.Excluded = append(p.Excluded, intent.NodeExclusion{Reason: e.Reason, Nodes: e.Nodes})
	}
	return p
}

// placed says whether DNS pods may run where the intents ask for, on every
// cluster where that can be checked.
func placed(snap release.Snapshot) intent.StatusCondition {
	worst := condition(snap, "Placed", "True", "NodesSuitable", "DNS pods have nodes to run on, wherever that can be checked")
	for _, r := range snap.DNS {
		next := worst
		switch {
		case r.Refused():
			next = condition(snap, "Placed", "False", "NoSuitableNode", r.Cluster+": "+r.Message())
		case r.Judged && r.Verdict == nil:
			next = condition(snap, "Placed", "Unknown", "NodesUnknown", r.Cluster+": "+r.Message())
		}
		if badness(next.Status) > badness(worst.Status) {
			worst = next
		}
	}
	return worst
}
