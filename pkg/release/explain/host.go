package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// ownerOf projects what the snapshot of an owner says of a host name; false if the owner
// has nothing to do with it any more. Documents are those that give the name.
func ownerOf(snap query.Snapshot, host string, documents []intent.NameSource) (intent.NameOwner, bool) {
	l := snap.Lifecycle
	owner := intent.Path(snap.Owner)
	all := status.Of(snap)
	gives := func(b plan.Binding) bool {
		return slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return h.Name == host })
	}
	if l.Seq == 0 || all.State == intent.Terminated || !slices.ContainsFunc(snap.Group.Bindings, gives) {
		return intent.NameOwner{}, false
	}
	out := intent.NameOwner{
		Owner: owner, Project: owner.Segment("projects"), State: all.State, Release: l.Seq, Accepted: l.Since, Message: all.Message,
		Documents: documents, Records: []intent.NameStatus{}, ExternalDNS: []intent.ProviderStatus{},
	}
	for _, e := range l.Events {
		if e.Revision == l.Seq && e.Outcome == "accepted" {
			out.Actor = e.Actor
		}
	}
	for _, n := range all.Names {
		if n.Name == host {
			out.Records = append(out.Records, n)
		}
	}
	for _, p := range all.Providers {
		if slices.ContainsFunc(snap.Group.Bindings, func(b plan.Binding) bool {
			return gives(b) && b.Record == p.Record && b.Scope == p.Scope && intent.HomeWord(b.Cluster) == p.Cluster
		}) {
			out.ExternalDNS = append(out.ExternalDNS, p)
		}
	}
	return out, true
}

// summarize sums up what is known of a host name. others tells that a project has it that
// the caller may not read.
func summarize(host string, owners []intent.NameOwner, others bool) intent.NameExplanation {
	out := intent.NameExplanation{Name: host, Owners: owners, Others: others}
	if len(owners) == 0 {
		out.Summary = host + " is taken by another project."
		return out
	}
	giving := slices.DeleteFunc(slices.Clone(owners), func(o intent.NameOwner) bool { return len(targets(o)) == 0 })
	if len(giving) == 0 {
		giving = owners
	}
	worst := slices.MinFunc(giving, func(a, b intent.NameOwner) int { return sound(a) - sound(b) })
	answer := targets(worst)
	if len(owners) > 1 {
		answer = together(owners)
	}
	out.Summary = sentence(host, worst, answer)
	if len(owners) > 1 {
		out.Summary += fmt.Sprintf(" %d owners give it, together %s.", len(owners), cmp.Or(strings.Join(together(owners), ", "), "no address"))
		out.Summary += withoutAddress(owners, giving)
	}
	if others {
		out.Summary += " Another project has it, too."
	}
	return out
}

// withoutAddress says which owners have no address for a host name that others give, and why.
func withoutAddress(owners, giving []intent.NameOwner) string {
	var text strings.Builder
	for _, o := range owners {
		if slices.ContainsFunc(giving, func(g intent.NameOwner) bool { return g.Owner == o.Owner }) {
			continue
		}
		why := cmp.Or(o.Message, "it is "+string(o.State))
		if c := lacks(o, "Published"); c != nil {
			why = c.Message
		}
		fmt.Fprintf(&text, " %s gives it no address: %s.", o.Owner, why)
	}
	return text.String()
}

// together are the targets that all owners give, in order.
func together(owners []intent.NameOwner) []string {
	var all []string
	for _, o := range owners {
		all = append(all, targets(o)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sound is how well a host name does at an owner: the more, the better.
func sound(o intent.NameOwner) int {
	switch {
	case len(o.Records) == 0:
		return 0
	case lacks(o, "Published") != nil:
		return 1
	case lacks(o, "Verified") != nil:
		return 2
	}
	return 3
}

// lacks is the first condition of a type that is not True.
func lacks(o intent.NameOwner, kind string) *intent.StatusCondition {
	for _, record := range o.Records {
		for _, c := range record.Conditions {
			if c.Type == kind && c.Status != "True" {
				return &c
			}
		}
	}
	return nil
}

// sentence says how a host name does at an owner, and what its servers answer if they do as they should.
func sentence(host string, o intent.NameOwner, answer []string) string {
	if len(o.Records) == 0 {
		return strings.TrimSuffix(fmt.Sprintf("%s belongs to %s, which is %s: %s", host, o.Owner, o.State, o.Message), ": ") + "."
	}
	through := fmt.Sprintf("provider %q", o.Records[0].Record)
	published, verified := lacks(o, "Published"), lacks(o, "Verified")
	if unseen := published != nil && published.Status == "Unknown"; unseen && answered(o) {
		return fmt.Sprintf("The servers of %s answer what %s publishes by %s: %s.", host, o.Owner, through, strings.Join(targets(o), ", "))
	} else if unseen && verified != nil && verified.Status == "False" {
		return fmt.Sprintf("The servers of %s answer otherwise than %s publishes by %s: %s.", host, o.Owner, through, verified.Message)
	}
	if published != nil && published.Status == "False" {
		return fmt.Sprintf("%s of %s is not published by %s: %s.", host, o.Owner, through, published.Message)
	}
	if published != nil {
		return fmt.Sprintf("It is not known whether %s of %s is published by %s: %s.", host, o.Owner, through, published.Message)
	}
	if verified != nil {
		but := "but it is not known what its servers answer"
		if verified.Status == "False" {
			but = "but its servers answer otherwise"
		}
		return fmt.Sprintf("%s of %s is published by %s, %s: %s.", host, o.Owner, through, but, verified.Message)
	}
	text := fmt.Sprintf("%s of %s is published by %s, and its servers answer %s.", host, o.Owner, through, strings.Join(answer, ", "))
	if isHeld(o) {
		text += " No address of it exists any more: its removal is held, because too many names would go at once."
	}
	return text
}

// isHeld tells whether a host name is published only because too many names would go at once.
func isHeld(o intent.NameOwner) bool {
	held := func(c intent.StatusCondition) bool { return c.Reason == "RemovalFrozen" }
	return !slices.ContainsFunc(o.Records, func(r intent.NameStatus) bool { return !slices.ContainsFunc(r.Conditions, held) })
}

// answered tells whether all records of a host name are known to be answered as published.
func answered(o intent.NameOwner) bool {
	verified := func(c intent.StatusCondition) bool { return c.Type == "Verified" && c.Status == "True" }
	return !slices.ContainsFunc(o.Records, func(r intent.NameStatus) bool { return !slices.ContainsFunc(r.Conditions, verified) })
}

// targets are those of all records.
func targets(o intent.NameOwner) []string {
	var out []string
	for _, record := range o.Records {
		out = append(out, record.Targets...)
	}
	return out
}
