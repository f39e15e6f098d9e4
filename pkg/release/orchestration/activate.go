package orchestration

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// PostEvent says that rsync has been told to instantiate, update or terminate
// an app context. It makes the release that was frozen for the context the
// group's, or has the group terminated. A context that no release is kept for
// is noted: names stay as they are. It is idempotent. Conflict where the release
// cannot be accepted, NotFound where there is no such context.
func (s *Sync) PostEvent(ctx context.Context, id string, event intent.Action) error {
	if event == intent.Terminate {
		return s.TerminateContext(ctx, id)
	}
	meta, err := s.EMCO.Meta(ctx, id)
	if err != nil {
		return err
	}
	group, ok := follow.GroupOf(meta)
	if !ok {
		return follow.NoGroup(id)
	}
	refused := s.activate(ctx, group, id, "event")
	switch {
	case refused == nil:
		return nil
	case !errors.Is(refused, accept.ErrNotPrepared):
		return errors.Join(refused, s.noteIn(ctx, group, func(l *state.Lifecycle) bool { return s.noteUnaccepted(l, id, refused) }))
	}
	is, err := s.Follower.StateOf(ctx, id)
	if err != nil {
		return err
	}
	return s.noteIn(ctx, group, func(l *state.Lifecycle) bool { return s.noteUnkept(ctx, group, l, is) })
}

// TerminateContext has what belongs to an app context taken away: EMCO is about
// to uninstall it. The context has no child of the group's any more then. It is
// idempotent. NotFound where there is no such context, and no group knows it.
func (s *Sync) TerminateContext(ctx context.Context, id string) error {
	group, err := s.groupWith(ctx, id)
	if err != nil {
		return err
	}
	if _, err = state.RetryOnConflict(ctx, group, func(ctx context.Context) (intent.Accepted, error) { return s.tryTerminate(ctx, group, id) }); err != nil {
		return err
	}
	_, err = state.RetryOnConflict(ctx, group, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.orphan(ctx, group, id) })
	return err
}

// orphan has an app context of EMCO name no context of the group any more, before EMCO is
// answered. Its orchestrator reads the meta right after, and would uninstall Signpost's
// context a second time.
func (s *Sync) orphan(ctx context.Context, group intent.Path, id string) error {
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil || l.Deployed() && l.AppContext == id {
		return err
	}
	return s.Follower.Adopt(ctx, group, l, id, "")
}

func (s *Sync) tryTerminate(ctx context.Context, group intent.Path, id string) (intent.Accepted, error) {
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return intent.Accepted{}, err
	}
	ends, err := s.ends(ctx, &l, id)
	if err != nil {
		return intent.Accepted{}, err
	}
	if ends {
		s.Logger.InfoContext(ctx, "EMCO terminates an app context", "group", group, "appContext", id)
		accepted, err := s.Planner.TryAccept(ctx, group, state.Request{Action: intent.Terminate, AppContext: id}, "", intent.OrchestratorActor)
		if errors.Is(err, accept.ErrNotPrepared) {
			err = &intent.Error{Code: intent.PreconditionFailed, Detail: string(group) + " has just been terminated", Err: err}
		}
		return accepted, err
	}
	if l.Orchestrated() || !l.IsPrepared(id) {
		return intent.Accepted{}, nil
	}
	l.Retire(id)
	return intent.Accepted{}, s.Swap(ctx, group, l)
}

// ends says whether the group ends with an app context: EMCO terminates the one that is
// current there, which nobody may have told yet. A context that another has replaced is
// not current any more.
func (s *Sync) ends(ctx context.Context, l *state.Lifecycle, id string) (bool, error) {
	switch {
	case !l.Orchestrated():
		return false, nil
	case l.AppContext == id, l.Unkept == id:
		return true, nil
	case l.IsPrepared(id) && l.Older(l.AppContext, id):
		return true, nil
	}
	is, err := s.Follower.StateOf(ctx, id)
	if err != nil || is.As == follow.Active && (l.IsPrepared(id) || is.Other == l.AppContext) {
		return err == nil, err
	}
	is, err = s.Follower.StateOf(ctx, l.AppContext)
	return is.As == follow.Superseded || is.As == follow.Ended, err
}

// activate makes the release that was frozen for an app context the group's.
// cause is what tells that the context is current.
func (s *Sync) activate(ctx context.Context, group intent.Path, id, cause string) error {
	ctx = toldIn(ctx, group)
	accepted, err := s.Planner.Accept(ctx, group, state.Request{AppContext: id}, "", intent.OrchestratorActor)
	if err == nil {
		s.Logger.InfoContext(ctx, "an app context of EMCO is current", "group", group, "appContext", id, "revision", accepted.Revision, "by", cause)
	}
	return err
}

// groupWith finds the group of an app context: as its meta says, else as the
// lifecycles do.
func (s *Sync) groupWith(ctx context.Context, id string) (intent.Path, error) {
	meta, missing := s.EMCO.Meta(ctx, id)
	switch code := intent.CodeOf(missing); {
	case missing == nil:
		if group, ok := follow.GroupOf(meta); ok {
			return group, nil
		}
		missing = follow.NoGroup(id)
	case code != intent.NotFound && code != intent.Conflict:
		return "", missing
	}
	var found intent.Path
	err := s.EachLifecycle(ctx, "", func(group intent.Path, l state.Lifecycle) error {
		if found == "" && (l.AppContext == id || l.IsPrepared(id)) {
			found = group
		}
		return nil
	})
	if err == nil && found == "" {
		err = missing
	}
	return found, err
}
