package accept

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// readNameAtOnce has a request of a name read everything as it is at one time, until it
// claims the name. It reads in one request what the document of the name names. Requests of
// other owners are as they were.
func readNameAtOnce(ctx context.Context, s *Planner, owner intent.Path, r state.Request) (_ context.Context, end func(), err error) {
	if !intent.IsName(owner) {
		return ctx, func() {}, nil
	}
	project := intent.Join("projects", owner.Segment("projects"))
	ahead := state.Ahead{Documents: []intent.Path{project, state.LifecyclePath(owner), state.DrainedPath}, Keys: appcontext.Keys(state.GroupOwner(owner))}
	kind := "deletion " + string(project)
	if r.Name != nil {
		name, err := intent.Of[intent.Name](r.Name.At(owner))
		if err != nil {
			return ctx, func() {}, err
		}
		provider := project.Child("dns-update-records", name.Spec.Provider)
		kind = "acceptance " + string(provider)
		ahead.Documents = append(ahead.Documents, provider, state.LifecyclePath(provider))
		for _, cluster := range name.Spec.Clusters.Refs() {
			ahead.Documents = append(ahead.Documents, cluster.Path())
		}
		ahead.Prefixes = []string{ledger.AbandonedPrefix, state.Collection(s.Store, "projects")}
	}
	ctx, ended, err := state.ReadAtOnce(ctx, s.Store, state.Ahead{})
	if err != nil {
		return ctx, ended, err
	}
	learn, err := state.ReadAheadAs(ctx, s.Store, kind, owner, ahead)
	return ctx, func() { learn(); ended() }, err
}

// readRest reads in one request what the draft of a name leads to, and what is current of it.
func readRest(ctx context.Context, s *Planner, p *resolve.Proposal) error {
	name := p.Draft.Group.Path
	if !intent.IsName(name) {
		return nil
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(name))
	if err != nil {
		return err
	}
	ahead := render.Needed(p.Draft.Group)
	ahead.Prefixes = append(ahead.Prefixes, pointer.Resources()...)
	return state.ReadAhead(ctx, s.Store, ahead)
}

// staysAsItIs tells whether a name changes nothing about an external-dns that is there: its
// provider is deployed as it is frozen. A name that comes or goes changes no external-dns.
func staysAsItIs(p *resolve.Proposal, use state.Use, pointer appcontext.Pointer) bool {
	if !p.Brief || !intent.IsName(p.Draft.Group.Path) || p.Action == intent.Terminate || pointer.ContextID == "" {
		return false
	}
	record, wanted := p.Draft.Records[use.Record.Name()]
	return wanted && record.Lifecycle.AtRest(use) && p.Draft.Relies(use) && state.SameRecord(record.Lifecycle.Record, record.Frozen)
}
