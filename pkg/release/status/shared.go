package status

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
)

// shared goes on judging whether a name is published that other app services have, too.
// External-dns may publish the addresses of one of them only. If this one offers none,
// the name has those of the others.
func shared(snap query.Snapshot, b plan.Binding, host plan.Host, published intent.StatusCondition) intent.StatusCondition {
	others := snap.Publishers.Others(snap.Group, b, host.Name)
	if len(others) == 0 {
		return published
	}
	p, _ := providerOf(snap, b)
	own := sharing.Publisher{Group: snap.Group.Path, App: b.App, Service: b.Service, TTL: host.TTL}
	why := sharing.Together(p.Record.Version, append(others, own)...)
	with := sharing.Describe(snap.Group.Path, others...)
	switch {
	case published.Reason == "NoAddress" && offered(snap, b, host):
		return condition(snap, "Published", "True", "Shared", published.Message+"; the name has the addresses of "+with)
	case published.Status == "True" && why != "":
		return condition(snap, "Published", "Unknown", "Shared", "the name is also published by "+with+": "+why)
	case published.Status == "True":
		published.Message += "; the name is also published by " + with
	}
	return published
}

// offered tells whether another binding of the group has a target for the name.
func offered(snap query.Snapshot, b plan.Binding, host plan.Host) bool {
	for n, other := range snap.Group.Bindings {
		same := other.Record == b.Record && other.Scope == b.Scope && other.Cluster == b.Cluster
		at := slices.IndexFunc(other.Hosts, func(h plan.Host) bool { return h.Name == host.Name })
		if same && at >= 0 && len(endpoints.Sets(other.Hosts[at], snap.Choices[n][at])) > 0 {
			return true
		}
	}
	return false
}

// answerTogether has an app service without an address be verified as the others of its group that give the name. Servers
// answer with the addresses of all. The names are in order.
func answerTogether(names []intent.NameStatus) {
	for n, own := range names {
		if len(own.Targets) > 0 || !slices.ContainsFunc(own.Conditions, func(c intent.StatusCondition) bool { return c.Type == "Published" && c.Reason == "Shared" }) {
			continue
		}
		first, _ := slices.BinarySearchFunc(names, own.Name, func(s intent.NameStatus, name string) int { return strings.Compare(s.Name, name) })
		var worst *intent.StatusCondition
		for _, other := range names[first:] {
			if other.Name != own.Name {
				break
			}
			if other.Record != own.Record || other.Scope != own.Scope || len(other.Targets) == 0 {
				continue
			}
			if c := verifiedOf(other); c != nil && (worst == nil || worse(*c, *worst)) {
				worst = c
			}
		}
		if c := verifiedOf(names[n]); c != nil && worst != nil {
			*c = *worst
		}
	}
}

// verifiedOf is the condition Verified of a name; nil for none.
func verifiedOf(name intent.NameStatus) *intent.StatusCondition {
	at := slices.IndexFunc(name.Conditions, func(c intent.StatusCondition) bool { return c.Type == "Verified" })
	if at < 0 {
		return nil
	}
	return &name.Conditions[at]
}
