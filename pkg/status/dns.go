package status

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/release"
)

// dns reports how the DNS of each cluster of a logical cloud is doing, unless it
// is to go.
func dns(snap release.Snapshot) []intent.DNSStatus {
	if snap.Lifecycle.Wanted == intent.Terminate {
		return nil
	}
	var out []intent.DNSStatus
	for _, r := range snap.DNS {
		ref, _ := release.ParseCluster(r.Cluster)
		s := intent.DNSStatus{
			ClusterRef: ref, Intent: r.Intent, Mode: r.Spec.Mode, Namespace: r.Spec.Namespace, Domain: r.Domain,
			Address: r.Address,
		}
		if r.Judged {
			s.Placement = placement(r)
		}
		messages := []string{r.Message()}
		if r.Pods != nil {
			messages = append(messages, serving(r.Pods, snap.Clusters[r.Cluster], &s)...)
		}
		s.Message = strings.Join(slices.DeleteFunc(messages, func(text string) bool { return text == "" }), "; ")
		out = append(out, s)
	}
	return out
}

// serving tells what was observed of DNS pods. Whether they are available is
// not known while their cluster cannot be reached.
func serving(pods *observed.DaemonSet, cluster release.ClusterReport, out *intent.DNSStatus) []string {
	messages := []string{pods.Message}
	if pods.DNS != nil {
		messages = append(messages, pods.DNS.Unread)
		for _, u := range pods.DNS.Upstreams {
			s := intent.UpstreamStatus{Address: u.Address, Healthy: !u.Failing, Since: u.Since}
			if u.Failing {
				s.Message = "it fails the health checks of CoreDNS"
				messages = append(messages, "upstream "+u.Address+" fails health checks")
			}
			out.Upstreams = append(out.Upstreams, s)
		}
	}
	if unreachable(cluster) {
		return append(messages, "the cluster cannot be reached: this is how it was last seen")
	}
	out.Available = &pods.Available
	return messages
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
// cluster.
func placed(snap release.Snapshot) intent.StatusCondition {
	worst := condition(snap, "Placed", "True", "NodesSuitable", "DNS pods have nodes to run on")
	for _, r := range snap.DNS {
		next := worst
		switch {
		case r.Refused():
			next = condition(snap, "Placed", "False", "NoSuitableNode", r.Cluster+": "+r.Message())
		case r.Dedicated() && r.Verdict == nil:
			next = condition(snap, "Placed", "Unknown", "NodesUnknown", r.Cluster+": "+r.Message())
		}
		if badness(next.Status) > badness(worst.Status) {
			worst = next
		}
	}
	return worst
}

// available says whether DNS is served in every cluster where there is to be a
// DNS service of its own.
func available(snap release.Snapshot, s intent.Status) intent.StatusCondition {
	worst := condition(snap, "Available", "True", "PodsReady", "the DNS pods are ready")
	for n, d := range s.DNS {
		next := worst
		r := snap.DNS[n]
		switch {
		case !r.Dedicated() || r.InUse == nil:
		case d.Available == nil:
			next = condition(snap, "Available", "Unknown", "NotObserved", r.Cluster+": how the DNS pods do is not known")
		case !*d.Available:
			next = condition(snap, "Available", "False", "PodsNotReady", r.Cluster+": "+cmp.Or(r.Pods.Message, "the DNS pods are not ready"))
		}
		if badness(next.Status) > badness(worst.Status) {
			worst = next
		}
	}
	return worst
}
