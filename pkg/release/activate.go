package release

import (
	"context"
	"errors"
	"strings"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// actorEMCO is the actor of what EMCO's orchestrator asks for.
const actorEMCO = "emco"

// PostEvent says that rsync has been told to instantiate, update or terminate
// an app context. It makes the release that was frozen for the context the
// group's, or has the group terminated. A context that no release is kept for
// is noted: names stay as they are. It is idempotent. Conflict where the release
// cannot be accepted, NotFound where there is no such context.
func (s *Service) PostEvent(ctx context.Context, id string, event intent.Action) error {
	if event == intent.Terminate {
		return s.TerminateContext(ctx, id)
	}
	meta, err := s.emco.Meta(ctx, id)
	if err != nil {
		return err
	}
	group, ok := groupOf(meta)
	if !ok {
		return noGroup(id)
	}
	if err := s.activate(ctx, group, id, "event"); !errors.Is(err, errNotPrepared) {
		return err
	}
	return s.noteUnkept(ctx, group, id)
}

// TerminateContext has what belongs to an app context taken away: EMCO is about
// to uninstall it. The context has no child of the group's any more then. It is idempotent. NotFound where there is no such context,
// and no group knows it.
func (s *Service) TerminateContext(ctx context.Context, id string) error {
	group, err := s.groupWith(ctx, id)
	if err != nil {
		return err
	}
	if _, err = undisturbed(group, func() (intent.Accepted, error) { return s.tryTerminate(ctx, group, id) }); err != nil {
		return err
	}
	_, err = undisturbed(group, func() (struct{}, error) { return struct{}{}, s.orphan(ctx, group, id) })
	return err
}

// orphan has an app context of EMCO's name no context of the group's any more, before
// EMCO is answered: its orchestrator reads the meta right after, and would uninstall
// Signpost's context a second time.
func (s *Service) orphan(ctx context.Context, group intent.Path, id string) error {
	l, err := s.storedLifecycle(ctx, group)
	if err != nil || l.deployed() && l.AppContext == id {
		return err
	}
	return s.adopt(ctx, group, l, id, "")
}

func (s *Service) tryTerminate(ctx context.Context, group intent.Path, id string) (intent.Accepted, error) {
	l, err := s.storedLifecycle(ctx, group)
	if err != nil {
		return intent.Accepted{}, err
	}
	ends, err := s.ends(ctx, &l, id)
	if err != nil {
		return intent.Accepted{}, err
	}
	if ends {
		s.Logger.InfoContext(ctx, "EMCO terminates an app context", "group", group, "appContext", id)
		accepted, err := s.tryAccept(ctx, group, request{action: intent.Terminate, appContext: id}, "", actorEMCO)
		if errors.Is(err, errNotPrepared) {
			err = &intent.Error{Code: intent.PreconditionFailed, Detail: string(group) + " has just been terminated", Err: err}
		}
		return accepted, err
	}
	if l.orchestrated() || !l.isPrepared(id) {
		return intent.Accepted{}, nil
	}
	l.retire(id)
	_, err = s.swap(ctx, group, l)
	return intent.Accepted{}, err
}

// ends says whether the group ends with an app context: EMCO terminates the
// one that is current there, which nobody may have told yet. One that another
// has taken the place of is current no more.
func (s *Service) ends(ctx context.Context, l *Lifecycle, id string) (bool, error) {
	switch {
	case !l.orchestrated():
		return false, nil
	case l.AppContext == id, l.Unkept == id:
		return true, nil
	case l.isPrepared(id) && l.older(l.AppContext, id):
		return true, nil
	}
	is, err := s.standing(ctx, id)
	if err != nil || is.as == active && (l.isPrepared(id) || is.other == l.AppContext) {
		return err == nil, err
	}
	is, err = s.standing(ctx, l.AppContext)
	return is.as == superseded || is.as == ended, err
}

// activate makes the release that was frozen for an app context the group's.
// cause is what tells that the context is current.
func (s *Service) activate(ctx context.Context, group intent.Path, id, cause string) error {
	ctx = toldIn(ctx, group)
	accepted, err := s.accept(ctx, group, request{appContext: id}, "", actorEMCO)
	switch {
	case intent.CodeOf(err) == intent.Conflict:
		return errors.Join(err, s.noteUnaccepted(ctx, group, id, err))
	case err == nil:
		s.Logger.InfoContext(ctx, "an app context of EMCO's is current", "group", group, "appContext", id, "revision", accepted.Revision, "by", cause)
	}
	return err
}

// refollow notes that EMCO has come back to what the group is for.
func (s *Service) refollow(ctx context.Context, p *proposal) (intent.Accepted, error) {
	l := p.lifecycle
	l.follow()
	_, err := s.swap(ctx, p.draft.in.owner.Path, l)
	return intent.Accepted{ContextID: l.ContextID, Revision: l.Seq}, err
}

// errNotPrepared is the cause of an error about an app context that no release
// is kept for.
var errNotPrepared = errors.New("no release is kept for it")

// recallPrepared drafts what was frozen for an app context, as a rollback does:
// with the records as they are deployed now, or would be pinned.
func (s *Service) recallPrepared(ctx context.Context, p *proposal, live *inputs) error {
	at := p.lifecycle.preparedAt(p.appContext)
	if p.action == intent.Terminate {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "app context " + p.appContext + " has just been terminated"}
	}
	if at < 0 {
		return &intent.Error{Code: intent.NotFound, Detail: "app context " + p.appContext, Err: errNotPrepared}
	}
	release, err := s.loadRelease(ctx, p.lifecycle.Prepared[at].ContextID)
	if intent.CodeOf(err) == intent.NotFound {
		return &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just been frozen for app context " + p.appContext, Err: err}
	}
	if err != nil {
		return err
	}
	p.message = "app context " + p.appContext
	p.draft = &draft{in: live, records: map[string]recordDraft{}}
	return s.redraft(ctx, p.draft, "the release for app context "+p.appContext, release)
}

// depart drafts the end of an orchestrated group: it follows from the current
// release alone, for the documents may be gone, and EMCO may not answer.
func (s *Service) depart(ctx context.Context, group intent.Path, p *proposal, l Lifecycle) error {
	release, err := s.loadRelease(ctx, l.ContextID)
	p.lifecycle = l
	p.draft = &draft{in: &inputs{owner: intent.Document{Path: group, UID: l.OwnerUID}}, group: l.placed(release.Group)}
	if p.appContext != "" {
		p.message = "app context " + p.appContext
	}
	return err
}

// gatherOrchestrated reads what the next call of EMCO's would go by, if its app
// context were as the group's is.
func (s *Service) gatherOrchestrated(ctx context.Context, group intent.Path, l Lifecycle) (*inputs, error) {
	app, err := s.emco.Read(ctx, l.AppContext)
	if intent.CodeOf(err) == intent.NotFound {
		err = &intent.Error{Code: intent.Conflict, Detail: "what EMCO would make of the group cannot be told", Err: err}
	}
	if err != nil {
		return nil, err
	}
	by := &orchestration{Context: app}
	if at := l.preparedAt(l.AppContext); at >= 0 {
		by.traffic = l.Prepared[at].Traffic
	}
	return s.gatherFor(ctx, group, by)
}

// foresee says what a plan of an orchestrated group is.
func (d *draft) foresee() {
	d.podEdits() // what it says of them, for nothing is edited
	d.warn("EMCO's orchestrator drives this group: this is what its next update would make of it if the apps stay as they are in app context %s", d.in.orchestration.ID)
}

// groupOf is the path of the deployment intent group that an app context is
// of, as its meta says; ok is false where that names none.
func groupOf(m emco.Meta) (group intent.Path, ok bool) {
	for _, name := range []string{m.Project, m.CompositeApp, m.Version, m.DeploymentIntentGroup} {
		if name == "" || strings.Contains(name, "/") {
			return "", false
		}
	}
	return intent.Join("projects", m.Project, "composite-apps", m.CompositeApp, m.Version, "deployment-intent-groups", m.DeploymentIntentGroup), true
}

func noGroup(id string) error {
	return &intent.Error{Code: intent.Conflict, Detail: "app context " + id + " is none of a deployment intent group: its meta names none, as those of logical clouds and networks do"}
}

// groupWith finds the group of an app context: as its meta says, else as the
// lifecycles do.
func (s *Service) groupWith(ctx context.Context, id string) (intent.Path, error) {
	meta, missing := s.emco.Meta(ctx, id)
	switch code := intent.CodeOf(missing); {
	case missing == nil:
		if group, ok := groupOf(meta); ok {
			return group, nil
		}
		missing = noGroup(id)
	case code != intent.NotFound && code != intent.Conflict:
		return "", missing
	}
	var found intent.Path
	err := s.eachLifecycle(ctx, "", func(group intent.Path, l Lifecycle) error {
		if found == "" && (l.AppContext == id || l.isPrepared(id)) {
			found = group
		}
		return nil
	})
	if err == nil && found == "" {
		err = missing
	}
	return found, err
}
