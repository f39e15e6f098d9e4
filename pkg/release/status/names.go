package status

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
)

// names reports each name and type of the release, with its reasons.
func names(snap query.Snapshot) []intent.NameStatus {
	out := []intent.NameStatus{}
	if snap.Lifecycle.Wanted == intent.Terminate {
		return out
	}
	for n, b := range snap.Group.Bindings {
		synced, of := synced(snap, b), publicationOf(snap, b)
		for h, host := range b.Hosts {
			choice := snap.Choices[n][h]
			out = append(out, of.hostNames(b, host, choice, of.conditions(b, host, choice, synced))...)
		}
	}
	slices.SortStableFunc(out, func(a, b intent.NameStatus) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type), strings.Compare(a.Record, b.Record))
	})
	answerTogether(out)
	return out
}

// hostNames lists a host by record type; one without any target appears as A.
// A rejected target is listed once, where it would have been.
func (p publication) hostNames(b plan.Binding, host plan.Host, choice address.Choice, conditions []intent.StatusCondition) []intent.NameStatus {
	var out []intent.NameStatus
	for _, sets := range together(endpoints.Sets(host, choice)) {
		out = append(out, nameStatus(b, host, sets, choice, conditions))
	}
	if len(out) == 0 {
		out = append(out, nameStatus(b, host, []address.Set{{Type: "A"}}, choice, conditions))
	}
	for i := range out {
		p.prove(&out[i])
	}
	for _, r := range choice.Rejected {
		at := max(0, slices.IndexFunc(out, func(s intent.NameStatus) bool { return s.Type == typeOf(r.Target) }))
		r.Cluster = intent.HomeWord(r.Cluster)
		out[at].Rejected = append(out[at].Rejected, r)
	}
	return out
}

// together groups sets, which are ordered by type, by name and type.
func together(sets []address.Set) [][]address.Set {
	var out [][]address.Set
	for _, set := range sets {
		last := len(out) - 1
		if last >= 0 && out[last][0].Type == set.Type && out[last][0].Name == set.Name {
			out[last] = append(out[last], set)
			continue
		}
		out = append(out, []address.Set{set})
	}
	return out
}

// typeOf is the type of the record that a target would be in.
func typeOf(target string) string {
	ip, err := netip.ParseAddr(target)
	switch {
	case err != nil:
		return "CNAME"
	case ip.Unmap().Is4():
		return "A"
	}
	return "AAAA"
}

// nameStatus is that of one name and type, whose sets these are.
func nameStatus(b plan.Binding, host plan.Host, sets []address.Set, choice address.Choice, conditions []intent.StatusCondition) intent.NameStatus {
	s := intent.NameStatus{
		Name: cmp.Or(sets[0].Name, host.Name), Type: sets[0].Type, Record: b.Record, Scope: b.Scope, Targets: []string{}, Conditions: conditions,
		Sources: []intent.Source{}, Rejected: []intent.Rejection{},
	}
	for _, set := range sets {
		s.Targets = append(s.Targets, set.Targets...)
		if set.ID != "" {
			s.Sets = append(s.Sets, intent.SetStatus{SetIdentifier: set.ID, Weight: set.Weight, Region: set.Region, Location: set.Location, Targets: set.Targets})
		}
	}
	slices.Sort(s.Targets)
	s.Targets = slices.Compact(s.Targets)
	for _, source := range choice.Sources {
		if slices.Contains(s.Targets, source.Target) {
			source.Cluster = intent.HomeWord(source.Cluster) // of an address that the document of a name gives
			s.Sources = append(s.Sources, source)
		}
	}
	for _, p := range choice.Probes {
		if typeOf(p.Target) == s.Type {
			s.Probes = append(s.Probes, p)
		}
	}
	return s
}

// conditions judges a name, which shares a DNSEndpoint with the others of its
// binding; all but what authoritative servers answer, which differs by type.
func (p publication) conditions(b plan.Binding, host plan.Host, choice address.Choice, synced intent.StatusCondition) []intent.StatusCondition {
	synced.Message = strings.Join(append([]string{synced.Message}, choice.Health...), "; ")
	snap := p.snap
	published := shared(snap, b, host, p.published(b, host, choice, synced))
	if choice.Kept {
		synced = condition(snap, "Synced", "False", "RemovalFrozen", removalFrozen(snap.Group.Path, b, host, choice))
		synced.LastTransitionTime = snap.HeldSince(b)
	}
	return []intent.StatusCondition{planned(snap), committed(snap), synced, published}
}

// removalFrozen says why a name has addresses that nothing offers, and what to do.
func removalFrozen(owner intent.Path, b plan.Binding, host plan.Host, choice address.Choice) string {
	why := ""
	if _, all := lacksOf(b, host, choice); all {
		why = ": " + noAddress(b, host, choice)
	}
	remedy := "Bring the Services back, or plan an update and confirm it with the plan's token to remove the names"
	if intent.IsName(owner) && b.Service == "" {
		remedy = "Give it other addresses, or unpublish the name and confirm that with the token of its plan"
	} else if intent.IsName(owner) {
		remedy = "Bring the Service back, or unpublish the name and confirm that with the token of its plan"
	}
	return fmt.Sprintf("no address of %s exists any more%s. The name stays published, because more names of provider %q would be removed at once than its maxRemoval allows. %s", host.Name, why, b.Record, remedy)
}

func planned(snap query.Snapshot) intent.StatusCondition {
	return condition(snap, "Planned", "True", "Accepted", fmt.Sprintf("release %d was planned", snap.Lifecycle.Seq))
}

func committed(snap query.Snapshot) intent.StatusCondition {
	switch {
	case snap.Lifecycle.Failure != "":
		return condition(snap, "Committed", "False", "CommitFailed", snap.Lifecycle.Failure)
	case snap.Committed && snap.Lifecycle.Wanted == intent.Terminate:
		return condition(snap, "Committed", "True", "Withdrawn", "no app context is current")
	case !snap.Committed && snap.Suspended:
		return condition(snap, "Committed", "False", "Suspended", suspendedGroup)
	case !snap.Committed:
		return condition(snap, "Committed", "False", "Committing", "the app context is being written")
	}
	c := condition(snap, "Committed", "True", "Current", "app context "+snap.Lifecycle.ContextID+" is current")
	c.LastTransitionTime = later(c.LastTransitionTime, snap.Current)
	return c
}

func synced(snap query.Snapshot, b plan.Binding) intent.StatusCondition {
	if snap.Suspended {
		return suspended(snap)
	}
	var turns turns
	says := func(status, reason, message string) intent.StatusCondition {
		return turns.date(snap, condition(snap, "Synced", status, reason, message))
	}
	if p, used := providerOf(snap, b); used {
		turns.addProvider(p)
		if lacking := lacking(p); len(lacking) > 0 || len(p.Objects) == 0 {
			return says("False", "ProviderNotApplied", publisherOf(p)+" is not applied: "+strings.Join(lacking, "; "))
		}
	}
	due, some := snap.Due.Find(endpointOf(snap, b))
	if !some {
		return says("True", "NothingToApply", "there is no address to publish")
	}
	what := "the DNSEndpoint"
	if intent.IsPublisher(b.Cluster) {
		what = "the name"
	}
	is, _ := snap.Objects.Find(due.ID)
	if !bytes.Equal(is.JSON, due.JSON) {
		return says("False", "Committing", what+" is not committed yet with these targets")
	}
	turns.add(snap.Owner, is, snap.Clusters[b.Cluster])
	if r := object(snap.Owner, is, snap.Clusters[b.Cluster]); r.Status != applied {
		return says("False", "DNSEndpoint"+r.Status, cmp.Or(r.Message, what+" is "+r.Status))
	}
	return says("True", "Applied", what+" is applied")
}

// providerOf is the external-dns that publishes a binding's names.
func providerOf(snap query.Snapshot, b plan.Binding) (query.ProviderReport, bool) {
	for _, p := range snap.Providers {
		if p.Use.Record.Name() == b.Record && p.Use.Scope == b.Scope && p.Use.Cluster == b.Cluster {
			return p, true
		}
	}
	return query.ProviderReport{}, false
}

// OfName projects the snapshot of a name.
func OfName(snap query.Snapshot) intent.NameReport {
	all := Of(snap)
	out := intent.NameReport{
		State: all.State, Published: "Unknown", Verified: "Unknown", Message: all.Message, Records: all.Names, Warnings: []string{},
	}
	for _, c := range all.Conditions {
		switch c.Type {
		case "Published":
			out.Published = c.Status
		case "Verified":
			out.Verified = c.Status
		}
		if c.Status != "True" && out.Message == "" {
			out.Message = c.Message
		}
	}
	if awaited := awaited(snap); awaited != "" {
		out.Published, out.Verified = notYet(out.Published), notYet(out.Verified)
		out.Message = cmp.Or(out.Message, awaited)
	}
	return out
}

// awaited says which Service of a name is about to be looked at; empty for none. A cluster that is
// unreachable, or that forbids something, may take long. It is not waited for, nor is one that nobody watches.
func awaited(snap query.Snapshot) string {
	for n, b := range snap.Group.Bindings {
		for _, choice := range snap.Choices[n] {
			for _, cluster := range choice.Unknown {
				if report := snap.Clusters[cluster]; report.Abandoned == nil && !troubled(report) && !isInventory(snap, cluster) {
					return "the addresses of Service " + b.Namespace + "/" + b.Service + " on " + cluster + " are not known yet"
				}
			}
		}
	}
	return ""
}

// troubled tells whether a cluster is unreachable, or whether something there cannot be watched.
func troubled(report query.ClusterReport) bool {
	return report.Reachability != nil && (!report.Reachability.Reachable || report.Reachability.Message != "")
}

// notYet is a truth about a name that lacks addresses.
func notYet(truth string) string {
	if truth == "True" {
		return "Unknown"
	}
	return truth
}
