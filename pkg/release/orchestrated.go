package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// UpdateContext freezes a release for an app context of EMCO's that is about to
// be installed: what a traffic group of the context's deployment intent group
// asks for there. The pod DNS intents are brought into the context; all else
// follows when the context becomes current. from is the context that this one
// replaces, empty for none. It is idempotent, and a failure leaves the context
// as it was; the group's events tell of both. Errors: those of emco.Store.Read; NotFound where documents are
// missing; Conflict where the context is of no group or of one that Signpost
// deploys itself, and where instantiate would be refused, with all the reasons.
func (s *Service) UpdateContext(ctx context.Context, id, traffic, from string) (warnings []string, err error) {
	warnings, err = undisturbed(intent.Path("app context "+id), func() ([]string, error) { return s.tryUpdateContext(ctx, id, traffic, from) })
	if err != nil {
		s.noteRefused(ctx, id, err)
	}
	return warnings, err
}

func (s *Service) tryUpdateContext(ctx context.Context, id, traffic, from string) ([]string, error) {
	app, err := s.emco.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	if group, ok := groupOf(app.Meta); ok {
		ctx = toldIn(ctx, group)
	}
	p, err := s.proposeContext(ctx, app, traffic)
	if err != nil {
		return nil, err
	}
	patch := emco.Patch{Resources: p.draft.podEdits()}
	if len(p.draft.errors) > 0 {
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("app context %s stays as it is, and nothing was released", id), Fields: p.draft.errors}
	}
	if err := s.checkRemovals(ctx, p); err != nil {
		return nil, err
	}
	if patch.AddChildren, err = s.outlasting(ctx, p, from); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, p, from); err != nil {
		return nil, err
	}
	_, err = s.emco.Apply(ctx, app, patch)
	return p.draft.warnings, err
}

// proposeContext drafts what becomes of a group with an app context, by the
// rules of instantiate and update, and without looking at any cluster.
func (s *Service) proposeContext(ctx context.Context, app *emco.Context, traffic string) (*proposal, error) {
	owner, ok := groupOf(app.Meta)
	if !ok {
		return nil, noGroup(app.ID)
	}
	group, err := s.Documents.Get(ctx, owner)
	if err != nil {
		return nil, unknownTo(app, err)
	}
	p := &proposal{request: request{action: intent.Instantiate}}
	if p.lifecycle, err = s.lifecycle(ctx, owner, group.UID); err != nil {
		return nil, err
	}
	by, err := s.orchestrated(ctx, app, owner, p.lifecycle, traffic)
	if err != nil {
		return nil, err
	}
	in, err := s.gatherFor(ctx, owner, by)
	if err != nil {
		return nil, unknownTo(app, err)
	}
	if in.owner.UID != group.UID {
		return nil, &intent.Error{Code: intent.PreconditionFailed, Detail: string(owner) + " has just become another"}
	}
	if p.draft, err = s.draft(ctx, in); err != nil {
		return nil, err
	}
	if err := s.checkTenancy(ctx, p.draft); err != nil {
		return nil, err
	}
	p.draft.warnOfSuspension()
	for _, check := range []func(context.Context, *proposal) error{s.checkQuotas, s.checkNames} {
		if err := check(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, s.checkProviders(ctx, p)
}

// orchestrated is an app context with the traffic groups that count in it: the
// one that is asked for, and those that were before.
func (s *Service) orchestrated(ctx context.Context, app *emco.Context, owner intent.Path, l Lifecycle, traffic string) (*orchestration, error) {
	switch {
	case slices.ContainsFunc(l.kept(), func(past Past) bool { return past.ContextID == app.ID }):
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("app context %s is Signpost's own, of %s; name the one that EMCO's orchestrator has made", app.ID, owner)}
	case l.deployed() && !l.orchestrated():
		return nil, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("%s is deployed by Signpost itself (%s); terminate it at Signpost before EMCO deploys it", owner, l.State())}
	}
	path := owner.Child("traffic-group-intents", traffic)
	_, err := s.Documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, &intent.Error{Code: intent.NotFound, Err: err, Detail: fmt.Sprintf(
			"%s does not exist, and the intents of deployment intent group %q map Signpost to it; post it to /v2/%s, or give the intents another traffic group", path, owner.Name(), path.Collection())}
	}
	names := []string{traffic}
	if at := l.preparedAt(app.ID); at >= 0 {
		names = append(names, l.Prepared[at].Traffic...)
	}
	slices.Sort(names)
	return &orchestration{Context: app, traffic: slices.Compact(names)}, err
}

// unknownTo says what to do where a document is missing that an app context
// goes by.
func unknownTo(app *emco.Context, err error) error {
	var known *intent.Error
	if intent.CodeOf(err) != intent.NotFound || !errors.As(err, &known) {
		return err
	}
	return &intent.Error{Code: intent.NotFound, Err: err, Detail: fmt.Sprintf(
		"%s; app context %s goes by it (--emco-orchestrator, --emco-dcm and --emco-clm say which documents are read in EMCO; all others are posted to Signpost)", known.Detail, app.ID)}
}

// checkProviders says what of the external-dns in use could not be deployed,
// and with whom names would be shared.
func (s *Service) checkProviders(ctx context.Context, p *proposal) error {
	if err := s.checkSharing(ctx, p.draft); err != nil {
		return err
	}
	_, after, err := s.providers(ctx, p)
	if err != nil {
		return err
	}
	return s.checkHolders(ctx, p, after)
}

// outlasting are the contexts of Signpost's that outlive the app context which
// this one replaces: it names them, too, so that EMCO uninstalls them with it.
func (s *Service) outlasting(ctx context.Context, p *proposal, from string) ([]string, error) {
	if !p.lifecycle.orchestrated() || !p.lifecycle.isPrepared(from) && from != p.lifecycle.AppContext {
		return nil, nil
	}
	pointer, err := s.Contexts.Current(ctx, groupOwner(p.draft.group.Path))
	if err != nil || pointer.ContextID == "" {
		return nil, err
	}
	named, err := s.named(ctx, p.draft.group.Path, p.lifecycle, pointer.ContextID)
	return named.Now, err
}

// prepare stores the release of a draft for its app context, unless it is
// stored already. from is the app context that it replaces.
func (s *Service) prepare(ctx context.Context, p *proposal, from string) error {
	by := p.draft.in.orchestration
	release, err := newRelease(p.draft.group, p.draft.inputs)
	if err != nil {
		return err
	}
	if at := p.lifecycle.preparedAt(by.ID); at >= 0 && slices.Equal(p.lifecycle.Prepared[at].Traffic, by.traffic) {
		same, err := s.stores(ctx, p.lifecycle.Prepared[at].ContextID, release)
		if err != nil || same {
			return err
		}
	}
	if from, err = s.migrates(ctx, p.draft.group.Path, from); err != nil {
		return err
	}
	next := Prepared{AppContext: by.ID, ContextID: appcontext.NewID(), Traffic: by.traffic, From: from}
	if err := s.saveRelease(ctx, next.ContextID, release); err != nil {
		return err
	}
	err = s.file(ctx, p, next)
	if intent.CodeOf(err) == intent.PreconditionFailed {
		return errors.Join(err, s.dropRelease(ctx, next.ContextID))
	}
	return err
}

// file has the lifecycle of a proposal keep a release, beside those that others
// have frozen for other app contexts meanwhile: of many callers at once, one
// comes through at a time.
func (s *Service) file(ctx context.Context, p *proposal, next Prepared) error {
	group, l := p.draft.group.Path, p.lifecycle
	for {
		l.keep(next)
		s.notePrepared(ctx, &l, p)
		_, lost := s.swap(ctx, group, l)
		if intent.CodeOf(lost) != intent.PreconditionFailed {
			return lost
		}
		now, err := s.storedLifecycle(ctx, group)
		if err != nil || !now.standsFor(next.AppContext, p.lifecycle) {
			return errors.Join(lost, err)
		}
		l = now
	}
}
