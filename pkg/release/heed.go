package release

import (
	"cmp"
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// standing is what EMCO has made of an app context, as its rsync says.
type standing struct {
	as   role
	said int64 // revision of the store at which rsync said so, 0 for never
	told int64 // the same of when it was told to
}

type role int

const (
	unsaid     role = iota // rsync has said nothing yet, or nothing that is known here
	active                 // it is in the clusters, or on its way there
	failed                 // it has not come there wholly
	superseded             // another context has taken its place
	ended                  // it is terminated or deleted, or about to be
)

func roleOf(state emco.State) role {
	switch cmp.Or(state.Current, state.Status) {
	case "Instantiating", "Instantiated":
		return active
	case "InstantiateFailed":
		return failed
	case "Updating", "Updated", "UpdatedFailed":
		return superseded
	case "Terminating", "Terminated", "TerminateFailed":
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
		return standing{as: ended}, nil
	case intent.Conflict:
		return standing{}, nil
	}
	return standing{as: roleOf(state), said: state.Said, told: state.Told}, err
}

// stands answers how the app context of a group stands. One that is not in the
// clusters has ended.
func (s *Service) stands(ctx context.Context, l *Lifecycle) (standing, error) {
	if !l.orchestrated() {
		return standing{as: ended}, nil
	}
	is, err := s.standing(ctx, l.AppContext)
	if is.said > 0 && is.said <= l.Heard {
		is.as = unsaid
	}
	return is, err
}

// heed brings a group to what EMCO has made current, where an event has not
// told it, and says whether anything was to be done. What stands in the way of
// that does not keep the current release from being carried out.
func (s *Service) heed(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if !l.toHeed() {
		return false, nil
	}
	s.noteEMCO()
	is, err := s.stands(ctx, &l)
	if err != nil || is.as == unsaid || is.as == active {
		return false, err
	}
	next, ends, err := s.successor(ctx, &l, is)
	if err == nil && is.as == superseded && next == "" && !ends {
		ends, err = s.migrated(ctx, group, l.AppContext)
	}
	switch {
	case err != nil:
		return false, err
	case next != "":
		err = s.activate(ctx, group, next, "state")
	case (is.as == ended || ends) && l.deployed():
		s.Logger.InfoContext(ctx, "EMCO has terminated an app context", "group", group, "appContext", l.AppContext)
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

// successor is the app context that is current in place of the group's: of
// those that are in the clusters the one that rsync was told of last, empty for
// none. Contexts before one that has ended stay what they are when it ends. One
// that has failed does so, too, so there it counts which rsync was told of since.
// ends says that what has taken the group's place was then told to end.
func (s *Service) successor(ctx context.Context, l *Lifecycle, current standing) (next string, ends bool, err error) {
	last := int64(-1)
	if current.as == failed {
		last = current.said
	}
	for _, p := range l.Prepared {
		if p.AppContext == l.AppContext || current.as == ended && l.older(p.AppContext, l.AppContext) {
			continue
		}
		is, err := s.standing(ctx, p.AppContext)
		switch {
		case err != nil:
			return "", false, err
		case (is.as == active || is.as == failed) && is.told > last:
			next, last, ends = p.AppContext, is.told, false
		case is.as == ended && is.told > max(current.told, last):
			next, last, ends = "", is.told, true
		}
	}
	return next, ends, nil
}
