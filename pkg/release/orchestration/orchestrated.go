package orchestration

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// UpdateContext freezes a release for an app context of EMCO's that is about to be
// installed. The release has the requests of the traffic group of the context's
// deployment intent group. The pod DNS intents are brought into the context; all else
// follows when the context becomes current. Parameter from is the replaced context, empty
// for none. It is idempotent, and a failure leaves the context as it was; the group's
// events tell of both. Errors are those of emco.Store.Read, NotFound if documents are
// missing, and Conflict. It is a Conflict if the context has no group, or one that
// Signpost deploys itself. It is one, with all reasons, if instantiate would be refused.
func (s *Sync) UpdateContext(ctx context.Context, id, traffic, from string) (warnings []string, err error) {
	warnings, err = state.RetryOnConflict(ctx, intent.Path("app context "+id), func(ctx context.Context) ([]string, error) { return s.tryUpdateContext(ctx, id, traffic, from) })
	if err != nil {
		s.noteRefused(ctx, id, err)
	}
	return warnings, err
}

func (s *Sync) tryUpdateContext(ctx context.Context, id, traffic, from string) ([]string, error) {
	app, err := s.EMCO.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	if group, ok := follow.GroupOf(app.Meta); ok {
		ctx = toldIn(ctx, group)
	}
	p, err := s.proposeContext(ctx, app, traffic)
	if err != nil {
		return nil, err
	}
	var patch emco.Patch
	for _, edit := range accept.PodEdits(p.Draft) {
		patch.Resources = append(patch.Resources, emco.Edit{App: edit.App, Cluster: edit.Cluster, Key: edit.Key, Text: edit.Text})
	}
	if len(p.Draft.Errors) > 0 {
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("app context %s stays as it is, and nothing was released", id), Fields: p.Draft.Errors}
	}
	if err := s.Removal.CheckRemovals(ctx, p); err != nil {
		return nil, err
	}
	if patch.AddChildren, err = s.outlasting(ctx, p, from); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, p, from); err != nil {
		return nil, err
	}
	_, err = s.EMCO.Apply(ctx, app, patch)
	return p.Draft.Warnings, err
}

// proposeContext drafts what becomes of a group with an app context, by the
// rules of instantiate and update, and without looking at any cluster.
func (s *Sync) proposeContext(ctx context.Context, app *emco.Context, traffic string) (*resolve.Proposal, error) {
	owner, ok := follow.GroupOf(app.Meta)
	if !ok {
		return nil, follow.NoGroup(app.ID)
	}
	group, err := s.Documents.Get(ctx, owner)
	if err != nil {
		return nil, unknownTo(app, err)
	}
	p := &resolve.Proposal{Request: state.Request{Action: intent.Instantiate}}
	if p.Lifecycle, err = s.Lifecycle(ctx, owner, group.UID); err != nil {
		return nil, err
	}
	by, err := s.orchestrated(ctx, app, owner, p.Lifecycle, traffic)
	if err != nil {
		return nil, err
	}
	in, err := s.Inputs.GatherFor(ctx, owner, by)
	if err != nil {
		return nil, unknownTo(app, err)
	}
	if in.Owner.UID != group.UID {
		return nil, &intent.Error{Code: intent.PreconditionFailed, Detail: string(owner) + " has just been replaced"}
	}
	if p.Draft, err = s.Resolver.Draft(ctx, in); err != nil {
		return nil, err
	}
	if err := s.Tenancy.CheckTenancy(ctx, p.Draft); err != nil {
		return nil, err
	}
	p.Draft.WarnOfSuspension()
	for _, check := range []func(context.Context, *resolve.Proposal) error{s.Tenancy.CheckQuotas, s.Ownership.CheckNames} {
		if err := check(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, s.checkProviders(ctx, p)
}

// orchestrated is an app context with the traffic groups that count in it: the
// one that is asked for, and those that were before.
func (s *Sync) orchestrated(ctx context.Context, app *emco.Context, owner intent.Path, l state.Lifecycle, traffic string) (*inputs.Orchestration, error) {
	switch {
	case slices.ContainsFunc(l.Kept(), func(past state.Past) bool { return past.ContextID == app.ID }):
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("app context %s belongs to Signpost, for %s; name one of EMCO's orchestrator", app.ID, owner)}
	case l.Deployed() && !l.Orchestrated():
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is deployed by Signpost itself (%s); terminate it at Signpost before EMCO deploys it", owner, l.State())}
	}
	path := owner.Child("traffic-group-intents", traffic)
	_, err := s.Documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, &intent.Error{Code: intent.NotFound, Err: err, Detail: fmt.Sprintf(
			"%s does not exist, but the intents of deployment intent group %q name Signpost as its controller; post it to /v2/%s, or give the intents another traffic group", path, owner.Name(), path.Collection())}
	}
	names := []string{traffic}
	if at := l.PreparedAt(app.ID); at >= 0 {
		names = append(names, l.Prepared[at].Traffic...)
	}
	slices.Sort(names)
	return follow.Orchestration(app, slices.Compact(names)), err
}

// unknownTo says what to do where a document is missing that an app context
// goes by.
func unknownTo(app *emco.Context, err error) error {
	var known *intent.Error
	if intent.CodeOf(err) != intent.NotFound || !errors.As(err, &known) {
		return err
	}
	return &intent.Error{Code: intent.NotFound, Err: err, Detail: fmt.Sprintf(
		"%s; app context %s depends on it (--emco-orchestrator, --emco-dcm and --emco-clm say which documents EMCO keeps; post all others to Signpost)", known.Detail, app.ID)}
}

// checkProviders says what of the external-dns in use could not be deployed,
// and with whom names would be shared.
func (s *Sync) checkProviders(ctx context.Context, p *resolve.Proposal) error {
	if err := s.Sharing.CheckSharing(ctx, p.Draft); err != nil {
		return err
	}
	_, after, err := s.Planner.Providers(ctx, p)
	if err != nil {
		return err
	}
	return s.Tenancy.CheckHolders(ctx, p, after)
}

// outlasting are the contexts of Signpost that outlive the app context which this one
// replaces. It names them, too, so that EMCO uninstalls them with it.
func (s *Sync) outlasting(ctx context.Context, p *resolve.Proposal, from string) ([]string, error) {
	if !p.Lifecycle.Orchestrated() || !p.Lifecycle.IsPrepared(from) && from != p.Lifecycle.AppContext {
		return nil, nil
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(p.Draft.Group.Path))
	if err != nil || pointer.ContextID == "" {
		return nil, err
	}
	named, err := s.Follower.Named(ctx, p.Draft.Group.Path, p.Lifecycle, pointer.ContextID)
	return named.Now, err
}

// prepare stores the release of a draft for its app context, unless it is
// stored already. from is the app context that it replaces.
func (s *Sync) prepare(ctx context.Context, p *resolve.Proposal, from string) error {
	by := p.Draft.In.Orchestration
	release, err := state.NewRelease(p.Draft.Group, p.Draft.Inputs)
	if err != nil {
		return err
	}
	if at := p.Lifecycle.PreparedAt(by.ID); at >= 0 && slices.Equal(p.Lifecycle.Prepared[at].Traffic, by.Traffic) {
		same, err := s.Stores(ctx, p.Lifecycle.Prepared[at].ContextID, release)
		if err != nil || same {
			return err
		}
	}
	if from, err = s.migrates(ctx, p.Draft.Group.Path, from); err != nil {
		return err
	}
	packed, err := s.Pack(release)
	if err != nil {
		return err
	}
	next := state.Prepared{AppContext: by.ID, ContextID: appcontext.NewID(), Traffic: by.Traffic, From: from}
	if err := s.SaveRelease(ctx, next.ContextID, packed); err != nil {
		return err
	}
	err = s.file(ctx, p, next)
	if intent.CodeOf(err) == intent.PreconditionFailed {
		return errors.Join(err, s.DropRelease(ctx, next.ContextID))
	}
	return err
}

// file has the lifecycle of a proposal keep a release, beside those that others have
// frozen for other app contexts meanwhile. Of several callers at once, one succeeds at a
// time.
func (s *Sync) file(ctx context.Context, p *resolve.Proposal, next state.Prepared) error {
	group, l := p.Draft.Group.Path, p.Lifecycle
	for {
		l.Keep(next)
		s.notePrepared(ctx, &l, p)
		lost := s.Swap(ctx, group, l)
		if intent.CodeOf(lost) != intent.PreconditionFailed {
			return lost
		}
		now, err := s.StoredLifecycle(ctx, group)
		if err != nil || !now.StandsFor(next.AppContext, p.Lifecycle) {
			return errors.Join(lost, err)
		}
		l = now
	}
}
