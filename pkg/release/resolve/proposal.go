package resolve

import (
	"slices"

	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Proposal is an action thought through: the release that it would make, and
// how the clusters' objects would change.
type Proposal struct {
	state.Request
	Lifecycle state.Lifecycle
	Draft     *Draft
	View      intent.Plan
	Removals  Removals
	Message   string                            // of the event, when it is accepted
	Taken     []string                          // names that takeover is yet to yield
	Given     map[state.NameKey][]string        // the targets of these, as they are published until then
	Beside    []bundle.Change                   // what other groups publish of the names that it changes: these change nothing
	Regains   bool                              // names that the group has handed over, and may have again
	Clears    bool                              // it takes away the DNS services that others have replaced, and nothing else
	Objects   int                               // that it would have in clusters
	TooLarge  bool                              // it has more objects than it may, which are not made: its errors say so
	Bytes     int                               // of the owner's objects on all clusters, as they would be stored
	Unbounded bool                              // no quota of the project bounds what it takes
	Count     Count                             // of the project's quotas, if they were judged by it
	Requests  []ClaimRequest                    // the names and namespaces of the draft
	Unrelated []kv.Compare                      // conditions that hold as long as no name above or below those of the draft is claimed; nil: some are, or may be
	Claims    map[nameclaim.Key]nameclaim.Claim // of the names and namespaces asked for, as they were read
}

// Frozen are the records that the draft would deploy, by name.
func (d *Draft) Frozen() map[string]plan.Record {
	out := map[string]plan.Record{}
	for name, r := range d.Records {
		out[name] = r.Frozen
	}
	return out
}

// Relies reports whether the draft relies on an external-dns.
func (d *Draft) Relies(use state.Use) bool { return slices.Contains(d.Uses, use) }

// PendingNames are the names that the release would have, without regard to the
// addresses that its clusters offer. The values tell which of them the owner has already.
func (p *Proposal) PendingNames() map[state.NameKey]bool {
	if p.Action == intent.Terminate {
		return nil
	}
	has := state.NameSet{}
	for _, request := range p.Requests {
		own := func(e nameclaim.Entry) bool { return e.Confirmed && e.Group == p.Draft.Group.Path }
		if p.Lifecycle.Deployed() && slices.ContainsFunc(p.Claims[request.Key].Entries, own) {
			has[request.Host] = true
		}
	}
	names := map[state.NameKey]bool{}
	for _, b := range p.Draft.Group.Bindings {
		for _, h := range b.Hosts {
			names[state.NameKey{Name: h.Name, Record: b.Record}] = has[h.Name]
		}
	}
	return names
}

// WhyUpdate is why what is instantiated cannot be instantiated.
func (p *Proposal) WhyUpdate() string {
	switch {
	case len(p.Taken) > 0:
		return "its names are taken over by the update"
	case p.Regains:
		return "names that it gave up are free again; update it"
	}
	return "its intents, or documents that they depend on, have changed since; update it, or terminate it first"
}

// Next is what the owner would have after the action: nothing when it is
// terminated. drafted is false when that cannot be said.
func (p *Proposal) Next() (g plan.Group, drafted bool) {
	if p.Action == intent.Terminate {
		return plan.Group{}, true
	}
	return p.Draft.Group, p.Draft.Group.Path != ""
}

// SameService tells whether two DNS of a cluster are one service, at one address.
func SameService(a, b plan.ClusterDNS) bool {
	return a.Cluster == b.Cluster && a.Spec.Mode != intent.Import && b.Spec.Mode != intent.Import && a.Spec.Namespace == b.Spec.Namespace
}

// Warn adds a warning to a plan that is written down already.
func (p *Proposal) Warn(format string, values ...any) {
	p.View.Warnings = append(p.View.Warnings, fmt.Sprintf(format, values...))
}
