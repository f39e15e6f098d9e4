package release

import (
	"cmp"
	"context"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// standing is what EMCO has made of an app context, as its rsync says.
type standing int

const (
	unsaid     standing = iota // rsync has said nothing yet, or nothing that is known here
	active                     // it is in the clusters, or on its way there
	superseded                 // another context has taken its place
	ended                      // it is terminated or deleted, or about to be
)

func standingOf(state emco.State) standing {
	switch cmp.Or(state.Current, state.Status) {
	case "Instantiating", "Instantiated", "InstantiateFailed":
		return active
	case "Updating", "Updated", "UpdatedFailed":
		return superseded
	case "Terminating", "Terminated", "TerminateFailed":
		return ended
	}
	return unsaid
}

// standing answers how an app context stands, and at which revision of the
// store rsync was told so. A state that cannot be read says nothing.
func (s *Service) standing(ctx context.Context, id string) (is standing, told int64, err error) {
	state, err := s.emco.State(ctx, id)
	switch intent.CodeOf(err) {
	case intent.NotFound:
		return ended, 0, nil
	case intent.Conflict:
		return unsaid, 0, nil
	}
	return standingOf(state), state.Told, err
}

// heed brings a group to what EMCO has made current, where an event has not
// told it, and says whether anything was to be done. What stands in the way of
// that does not keep the current release from being carried out.
func (s *Service) heed(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if !l.toHeed() {
		return false, nil
	}
	s.noteEMCO()
	is := ended
	if l.orchestrated() {
		var err error
		if is, _, err = s.standing(ctx, l.AppContext); err != nil {
			return false, err
		}
	}
	if is != superseded && is != ended {
		return false, nil
	}
	next, err := s.successor(ctx, &l, is)
	switch {
	case err != nil:
		return false, err
	case next != "":
		err = s.activate(ctx, group, next, "state")
	case is == ended && l.deployed():
		s.Logger.InfoContext(ctx, "EMCO has terminated an app context", "group", group, "appContext", l.AppContext)
		_, err = s.accept(ctx, group, request{action: intent.Terminate, appContext: l.AppContext}, "", actorEMCO)
	default:
		return false, nil
	}
	if err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
		s.Logger.WarnContext(ctx, "what EMCO has made current cannot be accepted", "group", group, "appContext", cmp.Or(next, l.AppContext), "error", err)
		return false, nil
	}
	return err == nil, err
}

// successor is the app context that is current in place of the group's: of
// those that are active the one that rsync was told of last, empty for none.
// Contexts before one that has ended stay what they are when it ends.
func (s *Service) successor(ctx context.Context, l *Lifecycle, is standing) (string, error) {
	next, last := "", int64(-1)
	for _, p := range l.Prepared {
		if p.AppContext == l.AppContext || is == ended && l.older(p.AppContext, l.AppContext) {
			continue
		}
		stands, told, err := s.standing(ctx, p.AppContext)
		if err != nil {
			return "", err
		}
		if stands == active && told >= last {
			next, last = p.AppContext, told
		}
	}
	return next, nil
}
