package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// condition makes a condition that holds since the release was accepted. Later
// observations may move that.
func condition(snap query.Snapshot, kind, status, reason, message string) intent.StatusCondition {
	return intent.StatusCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: snap.Lifecycle.Since}
}

// overall is the worst of each condition over names and clusters.
func overall(snap query.Snapshot, s intent.Status) []intent.StatusCondition {
	worst := []intent.StatusCondition{planned(snap), committed(snap), allApplied(snap, s)}
	if snap.Lifecycle.Wanted == intent.Terminate {
		return worst
	}
	if state.IsCloud(intent.Path(snap.Owner)) {
		return append(worst, placed(snap), available(snap, s))
	}
	worst = append(worst,
		condition(snap, "Published", "True", "NoNames", "there is no name to publish"),
		condition(snap, "Verified", "True", "NoNames", "there is no name to verify"))
	for n, name := range s.Names {
		for i, c := range name.Conditions {
			if c.Type == "Verified" {
				c.Message = about(name, c)
			}
			first := n == 0 && i > 2
			switch {
			case first || worse(c, worst[i]):
				worst[i] = c
			case !worse(worst[i], c):
				worst[i].LastTransitionTime = jointly(c.Status, worst[i].LastTransitionTime, c.LastTransitionTime)
			}
		}
	}
	tellGivenUp(snap, &worst[len(worst)-2])
	if verified := &worst[len(worst)-1]; verified.Status == "True" { // of the names of this context: a worse one may have gone
		verified.LastTransitionTime = later(verified.LastTransitionTime, snap.Current)
	}
	return worst
}

// tellGivenUp says of the condition Published which names others have taken over:
// while they have them, nothing is missing.
func tellGivenUp(snap query.Snapshot, published *intent.StatusCondition) {
	if len(snap.GivenUp) == 0 {
		return
	}
	first := snap.GivenUp[0]
	text := fmt.Sprintf("%s was taken over by %s", first.Name, first.To)
	if first.Free {
		text += ", which is gone: an update publishes it again"
	}
	if more := len(snap.GivenUp) - 1; more > 0 {
		text += fmt.Sprintf("; likewise %d more", more)
	}
	if published.Reason == "NoNames" {
		published.Reason, published.Message = "GivenUp", text
	} else {
		published.Message += "; " + text
	}
	if free := slices.ContainsFunc(snap.GivenUp, func(g sharing.GivenUp) bool { return g.Free }); free && published.Status == "True" {
		published.Status, published.Reason = "False", "GivenUp"
	}
}

func allApplied(snap query.Snapshot, s intent.Status) intent.StatusCondition {
	if snap.Lifecycle.Wanted == intent.Terminate {
		return allGone(snap, s)
	}
	if snap.Suspended {
		return suspended(snap)
	}
	turns := turnsOf(snap)
	for _, c := range s.Clusters {
		for _, r := range c.Resources {
			if r.Status != applied {
				return turns.date(snap, condition(snap, "Synced", "False", "Resource"+r.Status, r.Kind+" "+r.Name+" on "+c.ClusterRef.String()+": "+cmp.Or(r.Message, "it is "+r.Status)))
			}
		}
	}
	for n, p := range s.Providers {
		if report := snap.Providers[n]; !report.Draining && (len(lacking(report)) > 0 || len(report.Objects) == 0) {
			return turns.date(snap, condition(snap, "Synced", "False", "ProviderNotApplied", publisherOf(report)+" of provider "+p.Record+": "+p.Message))
		}
	}
	if !snap.Committed {
		return condition(snap, "Synced", "False", "Committing", "the app context is being written")
	}
	if added := drift(snap); len(added) > 0 {
		return turns.date(snap, condition(snap, "Synced", "True", "Drift", allOf(snap)+"; "+strings.Join(added, "; ")))
	}
	return turns.date(snap, condition(snap, "Synced", "True", "Applied", allOf(snap)))
}

// drift says what others have added to the group's objects and to those of its
// external-dns, where that stays.
func drift(snap query.Snapshot) []string {
	var added []string
	tell := func(o bundle.Object, report query.ClusterReport) {
		if e, there := report.Entries[o.ID]; there && e.Drift != "" {
			added = append(added, fmt.Sprintf("%s %s on %s: %s", o.Kind, o.Name, o.Cluster, e.Drift))
		}
	}
	for _, o := range snap.Objects {
		tell(o, snap.Clusters[o.Cluster])
	}
	for _, p := range snap.Providers {
		for _, o := range p.Objects {
			tell(o, p.Cluster)
		}
	}
	return added
}

// allOf says of which objects Synced speaks: there are none of a DNS that no
// node was found for.
func allOf(snap query.Snapshot) string {
	var without []string
	for _, r := range snap.DNS {
		if r.InUse == nil {
			without = append(without, r.Cluster)
		}
	}
	if len(without) == 0 {
		return "every object is applied"
	}
	return "every object that can be placed is applied; no DNS is deployed on " + strings.Join(slices.Compact(without), ", ")
}

// suspended is what is known of objects that nobody looks after for now.
func suspended(snap query.Snapshot) intent.StatusCondition {
	return condition(snap, "Synced", "Unknown", "Suspended", suspendedGroup)
}

// allGone judges a group that is to have nothing in any cluster.
func allGone(snap query.Snapshot, s intent.Status) intent.StatusCondition {
	if snap.Lifecycle.Settled {
		gone := condition(snap, "Synced", "True", "Gone", "no object is left in any cluster")
		if behind := abandonedOnes(snap); len(behind) > 0 {
			gone.Message = "no object is left in any served cluster; objects in " + strings.Join(behind, ", ") + " stay, because the cluster is abandoned"
		}
		gone.LastTransitionTime = snap.Lifecycle.Done
		return gone
	}
	for _, c := range s.Clusters {
		if len(c.Resources) > 0 {
			r := c.Resources[0]
			return condition(snap, "Synced", "False", "Deleting", r.Kind+" "+r.Name+" is still on "+c.ClusterRef.String())
		}
	}
	for _, p := range snap.Providers {
		return condition(snap, "Synced", "False", "Draining", publisherOf(p)+" of provider "+p.Record.Name+": "+outlives(p))
	}
	if left := snap.Lifecycle.RemovedClusters; len(left) > 0 {
		return condition(snap, "Synced", "False", "Deleting", "objects of an earlier revision are still on "+strings.Join(left, ", "))
	}
	return condition(snap, "Synced", "False", "Deleting", "objects are being deleted")
}

// abandonedOnes are the clusters that nobody looks after, in order.
func abandonedOnes(snap query.Snapshot) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(snap.Clusters)) {
		if snap.Clusters[name].Abandoned != nil {
			out = append(out, name)
		}
	}
	return out
}

// about has a message that something is not verified name what it is about.
func about(name intent.NameStatus, c intent.StatusCondition) string {
	if c.Status == "True" {
		return c.Message
	}
	return name.Name + " " + name.Type + ": " + c.Message
}

// worse tells whether a condition is worse than another of its type: by its
// status, and Verified then by its reason.
func worse(c, than intent.StatusCondition) bool {
	if c.Status != than.Status || c.Type != "Verified" {
		return badness(c.Status) > badness(than.Status)
	}
	return verify.Verdict(c.Reason).Worse(verify.Verdict(than.Reason))
}

// badness orders the values of a condition.
func badness(status string) int {
	switch status {
	case "False":
		return 2
	case "Unknown":
		return 1
	}
	return 0
}
