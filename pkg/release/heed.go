package release

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// standing is what EMCO has made of an app context.
type standing struct {
	id    string
	as    role
	other string // id of the context that has taken its place, or whose place it takes, where rsync was told so
}

type role int

const (
	unsaid     role = iota // rsync was told nothing yet, or nothing that is known here
	active                 // it is in the clusters, or on its way there
	superseded             // another context has taken its place
	ended                  // it is terminated or deleted, or about to be
)

// roleOf goes by what rsync was told last, which is what EMCO made of the
// context last. Where that is not written down, it goes by what rsync has done.
func roleOf(state emco.State) role {
	switch cmp.Or(state.Told, state.Current, state.Status) {
	case "Instantiate", "Update", "Instantiating", "Instantiated", "InstantiateFailed":
		return active
	case "UpdateDelete", "Updating", "Updated", "UpdatedFailed":
		return superseded
	case "Terminate", "Terminating", "Terminated", "TerminateFailed":
		return ended
	}
	return unsaid
}

// standing answers how an app context stands. A state that cannot be read says
// nothing.
func (s *Service) standing(ctx context.Context, id string) (standing, error) {
	state, err := s.emco.State(ctx, id)
	switch intent.CodeOf(err) {
	case intent.NotFound:
		return standing{id: id, as: ended}, nil
	case intent.Conflict:
		return standing{id: id}, nil
	}
	return standing{id: id, as: roleOf(state), other: state.Other}, err
}

// stands answers how the app context of a group stands. One that is not in the
// clusters has ended.
func (s *Service) stands(ctx context.Context, l *Lifecycle) (standing, error) {
	if !l.orchestrated() {
		return standing{id: l.AppContext, as: ended}, nil
	}
	return s.standing(ctx, l.AppContext)
}

// heed brings a group to what EMCO has made current, where an event has not
// told it, and says whether anything was done. What stands in the way of that
// does not keep the current release from being carried out.
func (s *Service) heed(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if !l.toHeed() {
		return false, nil
	}
	s.noteEMCO()
	is, err := s.stands(ctx, &l)
	if err != nil || l.Unkept == "" && (is.as == unsaid || is.as == active) {
		return false, err
	}
	next, is, err := s.successor(ctx, group, &l, is)
	ends := is.as == ended
	if err == nil && next == "" && is.as == superseded {
		ends, err = s.migrated(ctx, group, is.id)
	}
	switch {
	case err != nil:
		return false, err
	case next != "" && next == l.Unkept:
		return false, nil
	case next != "" && !l.isPrepared(next):
		return true, s.noteUnkept(ctx, group, next)
	case next != "":
		err = s.activate(ctx, group, next, "state")
	case ends && l.deployed():
		s.Logger.InfoContext(ctx, "EMCO has terminated an app context", "group", group, "appContext", is.id)
		_, err = s.accept(ctx, group, request{action: intent.Terminate, appContext: l.AppContext}, "", actorEMCO)
	default:
		return false, nil
	}
	if errors.Is(err, errNotPrepared) { // it was, for an earlier group of this name
		return false, nil
	}
	if err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
		s.Logger.WarnContext(ctx, "what EMCO has made current cannot be accepted", "group", group, "appContext", cmp.Or(next, l.AppContext), "error", err)
		return false, nil
	}
	return err == nil, err
}

// successor is the app context that is current in place of the group's: the
// one that rsync was told to replace it by, or the one by which that was
// replaced, else what EMCO has said; else the last prepared one that is in the
// clusters. Empty for none; then the standing is of the last of those that
// replaced each other. What was there before one that has ended does not come
// back with that.
func (s *Service) successor(ctx context.Context, group intent.Path, l *Lifecycle, is standing) (next string, _ standing, err error) {
	if l.Unkept != "" && is.as != ended && (is.as != superseded || is.other == "") {
		is = standing{id: is.id, as: superseded, other: l.Unkept}
	}
	at := is
	for seen := []string{""}; at.as == superseded && !slices.Contains(seen, at.other); {
		seen = append(seen, at.other)
		if at, err = s.standing(ctx, at.other); err != nil {
			return "", is, err
		}
		known, err := s.isOf(ctx, group, l, at.id)
		switch {
		case err != nil || known && at.as == active:
			return at.id, at, err
		case known || at.as == ended: // of one of another group, its end alone counts
			is = at
		}
	}
	for _, p := range slices.Backward(l.Prepared) {
		if p.AppContext == is.id || p.AppContext == l.AppContext || is.as == ended && l.older(p.AppContext, is.id) {
			continue
		}
		if other, err := s.standing(ctx, p.AppContext); err != nil || other.as == active {
			return p.AppContext, other, err
		}
	}
	return "", is, nil
}

// isOf tells whether an app context is the group's, as far as that can be read.
func (s *Service) isOf(ctx context.Context, group intent.Path, l *Lifecycle, id string) (bool, error) {
	if l.isPrepared(id) || l.Unkept == id {
		return true, nil
	}
	meta, err := s.emco.Meta(ctx, id)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid:
		return false, nil
	}
	of, ok := groupOf(meta)
	return ok && of == group, err
}
