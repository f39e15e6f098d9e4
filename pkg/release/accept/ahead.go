package accept

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// ReadAhead has a request of a name read everything as it is at one time, until it claims the name. That begins before its document
// is judged. It reads in one request what the name has, and what earlier requests of the project have read.
func (s *Names) ReadAhead(ctx context.Context, name intent.Path) (_ context.Context, end func(), err error) {
	return ahead.BeginAs(ctx, s.planner.Store, "request "+string(projectOf(name)), name, ofName(name))
}

func projectOf(name intent.Path) intent.Path {
	return intent.Join("projects", name.Segment("projects"))
}

// ofName is what each request of a name reads.
func ofName(name intent.Path) ahead.Reads {
	return ahead.Reads{Documents: []intent.Path{projectOf(name), state.LifecyclePath(name), state.DrainedPath}, Keys: appcontext.Keys(state.GroupOwner(name))}
}

// readNameAtOnce has a request of a name read everything as it is at one time, until it
// claims the name. It reads in one request what the document of the name names. For another owner
// it returns ctx.
func readNameAtOnce(ctx context.Context, s *Planner, owner intent.Path, r state.Request) (_ context.Context, end func(), err error) {
	if !intent.IsName(owner) {
		return ctx, func() {}, nil
	}
	project, reads := projectOf(owner), ofName(owner)
	if r.Name == nil {
		return ahead.BeginAs(ctx, s.Store, "deletion "+string(project), owner, reads)
	}
	name, err := intent.Of[intent.Name](r.Name.At(owner))
	if err != nil {
		return ctx, func() {}, err
	}
	provider := project.Child("dns-update-records", name.Spec.Provider)
	reads.Documents = append(reads.Documents, provider, state.LifecyclePath(provider))
	for _, cluster := range name.Spec.Clusters.Refs() {
		reads.Documents = append(reads.Documents, cluster.Path())
	}
	reads.Prefixes = []string{ledger.AbandonedPrefix, ahead.Collection(s.Store, "projects")}
	return ahead.BeginAs(ctx, s.Store, "acceptance "+string(provider), owner, reads)
}

// readGroupAtOnce has a plan of a group, or of a logical cloud, read everything as it is at one time. It
// reads in one request the documents below the owner, and what is current of it. Another one reads what
// the release of now leads to.
func readGroupAtOnce(ctx context.Context, s *Planner, owner intent.Path) (_ context.Context, end func(), err error) {
	if intent.IsName(owner) || s.DocumentKey == nil {
		return ctx, func() {}, nil
	}
	first := inputs.NeededBy(s.Store, owner)
	first.Documents = append(first.Documents, owner, state.LifecyclePath(owner), state.DrainedPath)
	first.Keys = appcontext.Keys(state.GroupOwner(owner))
	first.Prefixes = append(first.Prefixes, ledger.AbandonedPrefix, ahead.Collection(s.Store, "projects"))
	ctx, end, err = ahead.Begin(ctx, s.Store, first)
	if err != nil {
		return ctx, end, err
	}
	l, err := s.StoredLifecycle(ctx, owner)
	if err != nil || !l.Deployed() {
		return ctx, end, err
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(owner))
	if err != nil {
		return ctx, end, err
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return ctx, end, nil //nolint:nilerr // the plan reads it again if it needs it
	}
	then := inputs.NeededSince(s.Store, release.Inputs)
	needed := render.Needed(l.Placed(release.Group))
	then.Documents, then.Keys = append(then.Documents, needed.Documents...), needed.Keys // a group may have many names: what is below them is not read ahead
	then.Prefixes = append(then.Prefixes, pointer.Resources()...)
	return ctx, end, ahead.Read(ctx, s.Store, then)
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
	reads := render.Needed(p.Draft.Group)
	reads.Prefixes = append(reads.Prefixes, pointer.Resources()...)
	return ahead.Read(ctx, s.Store, reads)
}

// stayAsTheyAre tells whether a name changes nothing about any external-dns: each is there, and its
// provider is deployed as it is frozen. A name that comes or goes changes no external-dns, unless it is the last of one.
func stayAsTheyAre(ctx context.Context, s *Planner, p *resolve.Proposal, uses []state.Use) (bool, error) {
	if !intent.IsName(p.Draft.Group.Path) || p.Action == intent.Terminate {
		return false, nil
	}
	for _, use := range uses {
		record, wanted := p.Draft.Records[use.Record.Name()]
		if !wanted || !record.Lifecycle.AtRest() || !p.Draft.Relies(use) || !state.SameRecord(record.Lifecycle.Record, record.Frozen) {
			return false, nil
		}
		pointer, err := s.Contexts.Current(ctx, use.Owner())
		if err != nil || pointer.ContextID == "" {
			return false, err
		}
	}
	return true, nil
}
