package orchestration

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// SyncFromEMCO accepts what EMCO has made current, if no event has told of it, and
// says whether it has: then the lifecycle is another. A refusal is noted in the
// lifecycle, and does not keep the current release from being carried out.
func (s *Sync) SyncFromEMCO(ctx context.Context, group intent.Path, l *state.Lifecycle) (bool, error) {
	if !l.ToSync() {
		return false, nil
	}
	s.NoteEMCO()
	is, err := s.Follower.Stands(ctx, l)
	if err != nil || l.Unkept == "" && (is.As == follow.Unsaid || is.As == follow.Active) {
		return false, err
	}
	next, is, err := s.replacement(ctx, group, l, is)
	ends := is.As == follow.Ended
	if err == nil && next == "" && is.As == follow.Superseded {
		ends, err = s.migrated(ctx, group, is.ID)
	}
	switch {
	case err != nil:
		return false, err
	case next != "" && next == l.Unkept:
		return false, nil
	case next != "" && !l.IsPrepared(next):
		s.noteUnkept(ctx, group, l, is)
		return false, nil
	case next != "":
		err = s.activate(ctx, group, next, "state")
		s.noteUnaccepted(l, next, err)
	case ends && l.Deployed():
		s.Logger.InfoContext(ctx, "EMCO has terminated an app context", "group", group, "appContext", is.ID)
		_, err = s.Planner.Accept(ctx, group, state.Request{Action: intent.Terminate, AppContext: l.AppContext}, "", intent.OrchestratorActor)
	default:
		return false, nil
	}
	if errors.Is(err, accept.ErrNotPrepared) { // it was, for an earlier group of this name
		return false, nil
	}
	if err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
		s.Logger.WarnContext(ctx, "EMCO's current app context cannot be accepted", "group", group, "appContext", cmp.Or(next, l.AppContext), "error", err)
		return false, nil
	}
	return err == nil, err
}

// replacement is the app context that is current in place of the group's. It is the
// context that rsync was told to replace it by, or that context's own replacement.
// Otherwise EMCO's word counts, and last the newest prepared context that is in the
// clusters. Empty for none; then the state is that of the last of those that replaced
// each other. A context before one that has ended does not come back.
func (s *Sync) replacement(ctx context.Context, group intent.Path, l *state.Lifecycle, is follow.ContextState) (next string, _ follow.ContextState, err error) {
	if l.Unkept != "" && is.As != follow.Ended && (is.As != follow.Superseded || is.Other == "") {
		is = follow.ContextState{ID: is.ID, As: follow.Superseded, Other: l.Unkept}
	}
	at := is
	for seen := []string{""}; at.As == follow.Superseded && !slices.Contains(seen, at.Other); {
		seen = append(seen, at.Other)
		if at, err = s.Follower.StateOf(ctx, at.Other); err != nil {
			return "", is, err
		}
		known, err := s.isOf(ctx, group, l, at.ID)
		switch {
		case err != nil || known && at.As == follow.Active:
			return at.ID, at, err
		case known || at.As == follow.Ended: // of one of another group, its end alone counts
			is = at
		}
	}
	for _, p := range slices.Backward(l.Prepared) {
		if p.AppContext == is.ID || p.AppContext == l.AppContext || is.As == follow.Ended && l.Older(p.AppContext, is.ID) {
			continue
		}
		if other, err := s.Follower.StateOf(ctx, p.AppContext); err != nil || other.As == follow.Active {
			return p.AppContext, other, err
		}
	}
	return "", is, nil
}

// isOf tells whether an app context is the group's, as far as that can be read.
func (s *Sync) isOf(ctx context.Context, group intent.Path, l *state.Lifecycle, id string) (bool, error) {
	if l.IsPrepared(id) || l.Unkept == id {
		return true, nil
	}
	meta, err := s.EMCO.Meta(ctx, id)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid:
		return false, nil
	}
	of, ok := follow.GroupOf(meta)
	return ok && of == group, err
}
