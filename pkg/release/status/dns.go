package status

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// dns reports how the DNS of each cluster of a logical cloud is doing, unless it
// is to go.
func dns(snap query.Snapshot) []intent.DNSStatus {
	if snap.Lifecycle.Wanted == intent.Terminate {
		return nil
	}
	var out []intent.DNSStatus
	for _, r := range snap.DNS {
		ref, _ := intent.ParseCluster(r.Cluster)
		s := intent.DNSStatus{
			ClusterRef: ref, Intent: r.Intent, Mode: r.Spec.Mode, Namespace: r.Spec.Namespace, Domain: r.Domain,
			Address: r.Address, Former: r.Former,
		}
		old := unobserved(snap.Clusters[r.Cluster])
		if r.Judged {
			s.Placement = placement(r, old)
		}
		messages := []string{r.Message()}
		if r.Pods != nil {
			messages = append(messages, serving(r.Pods, old, &s)...)
		}
		s.NodeCache = nodeCache(r, old)
		s.Message = joined(append(messages, old)...)
		out = append(out, s)
	}
	return out
}

// nodeCache reports how the caches on the nodes are doing, nil where there are
// to be none. That the cluster's DNS does not know the option with search paths
// is what they have found, and wrong though names resolve.
func nodeCache(r render.DNSReport, old string) *intent.NodeCacheStatus {
	if !clusterdns.HasNodeCache(r.ClusterDNS) {
		return nil
	}
	s := &intent.NodeCacheStatus{LocalIP: clusterdns.LocalIP(r.ClusterDNS), Message: old}
	if r.Caches == nil {
		why := "the state of the caches is not known yet"
		if !r.Judged && !r.Former {
			why = "the state of the caches in a directory is unknown"
		}
		s.Message = joined(why, old)
		return s
	}
	if old == "" {
		s.Available = &r.Caches.Available
	}
	messages := []string{r.Caches.Message}
	if d := r.Caches.DNS; d != nil {
		if clusterdns.Expands(r.ClusterDNS) && d.Unsupported != nil && *d.Unsupported {
			messages = append(messages, "the cluster's DNS does not know the EDNS0 option with search paths, or does not accept it from the nodes; the nodes walk the search paths, so a lookup costs several queries again")
		}
		for _, u := range d.Upstreams {
			if u.Failing {
				messages = append(messages, "the cluster's DNS at "+u.Address+" fails health checks")
			}
		}
		messages = append(messages, d.Unread)
	}
	s.Message = joined(append(messages, old)...)
	return s
}

// joined are the texts that say something, as one.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}

// unobserved says why nobody sees how a cluster is now, empty when it is seen.
func unobserved(cluster query.ClusterReport) string {
	switch {
	case cluster.Abandoned != nil:
		return "the cluster is abandoned: this is its last observed state"
	case unreachable(cluster):
		return "the cluster cannot be reached: this is its last observed state"
	}
	return ""
}

// serving tells what was observed of DNS pods. Whether they are available is
// not known when that is old.
func serving(pods *observed.DaemonSet, old string, out *intent.DNSStatus) []string {
	messages := []string{pods.Message}
	if pods.DNS != nil {
		messages = append(messages, pods.DNS.Unread)
		for _, u := range pods.DNS.Upstreams {
			s := upstream(u, cmp.Or(old, unread(*pods.DNS)))
			if u.Failing {
				messages = append(messages, "upstream "+u.Address+" fails health checks")
			}
			out.Upstreams = append(out.Upstreams, s)
		}
	}
	if old == "" {
		out.Available = &pods.Available
	}
	return messages
}

func upstream(u observed.Upstream, old string) intent.UpstreamStatus {
	fails := ""
	if u.Failing {
		fails = "it fails the health checks of CoreDNS"
	}
	return intent.UpstreamStatus{Address: u.Address, Healthy: !u.Failing, Since: u.Since, Message: joined(fails, old)}
}

// unread says that not all DNS pods were asked, so that what is told of
// upstreams may be what they said before.
func unread(d observed.DNS) string {
	if d.Unread == "" {
		return ""
	}
	return "this may be outdated: " + d.Unread
}

func placement(r render.DNSReport, old string) *intent.PlacementStatus {
	p := &intent.PlacementStatus{Current: r.Current(), Message: joined(r.Message(), old)}
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
// cluster. Of nodes that nobody sees that is not known.
func placed(snap query.Snapshot) intent.StatusCondition {
	worst := condition(snap, "Placed", "True", "NodesSuitable", "DNS pods have suitable nodes")
	for _, r := range snap.DNS {
		next := worst
		old := unobserved(snap.Clusters[r.Cluster])
		switch {
		case r.Former:
		case r.Judged && old != "":
			next = condition(snap, "Placed", "Unknown", "NotObserved", r.Cluster+": "+joined(r.Message(), old))
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
// DNS service of its own. Clusters of which that is not known are all named.
func available(snap query.Snapshot, s intent.Status) intent.StatusCondition {
	worst := condition(snap, "Available", "True", "PodsReady", "the DNS pods are ready")
	for n, d := range s.DNS {
		next := worst
		r := snap.DNS[n]
		switch {
		case !r.Dedicated():
		case r.Refused() && r.InUse == nil && unobserved(snap.Clusters[r.Cluster]) == "":
			next = condition(snap, "Available", "False", "NotPlaced", r.Cluster+": "+r.Message())
		case d.Available == nil:
			next = condition(snap, "Available", "Unknown", "NotObserved", joined(r.Cluster+": the state of the DNS pods is not known", unobserved(snap.Clusters[r.Cluster])))
		case !*d.Available:
			next = condition(snap, "Available", "False", "PodsNotReady", r.Cluster+": "+cmp.Or(r.Pods.Message, "the DNS pods are not ready"))
		case d.NodeCache != nil && d.NodeCache.Available == nil:
			next = condition(snap, "Available", "Unknown", "NotObserved", r.Cluster+": the state of the caches on the nodes is not known")
		case d.NodeCache != nil && !*d.NodeCache.Available:
			next = condition(snap, "Available", "False", "CachesNotReady", r.Cluster+": "+cmp.Or(r.Caches.Message, "the caches on the nodes are not ready"))
		}
		switch {
		case badness(next.Status) > badness(worst.Status):
			worst = next
		case next.Reason == "NotObserved" && next != worst && next.Status == worst.Status:
			worst.Message += "; " + next.Message
		}
	}
	return worst
}
