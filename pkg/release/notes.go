package release

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Outcomes of what EMCO asks for, beside those of all requests.
const (
	outcomePrepared = "prepared" // a release was frozen for an app context
	outcomeDropped  = "dropped"  // it went with the context
)

// note records an outcome of an app context of EMCO's. It answers false, and
// records nothing, if the last event of EMCO's says the same.
func (s *Service) note(l *Lifecycle, outcome, id, what string) bool {
	e := intent.Event{Time: s.Now().UTC(), Actor: actorEMCO, Action: l.followingAction(""), Revision: l.Seq, Outcome: outcome}
	if l.isPrepared(id) {
		e.Action = l.followingAction(id)
	}
	if by := "app context " + id; !strings.HasPrefix(strings.TrimPrefix(what, "EMCO's "), by) {
		what = by + ": " + what
	}
	e.Message = clip(what)
	for _, last := range slices.Backward(l.Events) {
		if last.Actor == actorEMCO {
			if last.Outcome == e.Outcome && last.Message == e.Message {
				return false
			}
			break
		}
	}
	l.record(e)
	return true
}

// clip keeps a lifecycle small: what is wrong may be wrong in each of a hundred
// clusters.
func clip(text string) string {
	const longest = 2000
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// notePrepared records that a release was frozen for an app context, and what
// is to be said of it.
func (s *Service) notePrepared(ctx context.Context, l *Lifecycle, p *proposal) {
	by, level := p.draft.in.orchestration, slog.LevelInfo
	what := "prepared for traffic group " + strings.Join(by.traffic, ", ")
	if len(p.draft.warnings) > 0 {
		what, level = what+"; warnings: "+strings.Join(p.draft.warnings, "; "), slog.LevelWarn
	}
	s.note(l, outcomePrepared, by.ID, what)
	s.Logger.Log(ctx, level, "a release is prepared for an app context of EMCO's", "group", p.draft.group.Path, "appContext", by.ID, "warnings", p.draft.warnings)
}

// toldIn is a context in which is said what may be noted of a group: all who may
// read its project read that.
func toldIn(ctx context.Context, group intent.Path) context.Context {
	return intent.Within(ctx, group.Segment("projects"))
}

// noteRefused records, once, why a release could not be frozen for an app
// context, with the group that its meta names.
func (s *Service) noteRefused(ctx context.Context, id string, cause error) {
	s.Logger.WarnContext(ctx, "an app context of EMCO's is refused", "appContext", id, "error", cause)
	var known *intent.Error
	if !errors.As(cause, &known) {
		return
	}
	if ctx.Err() != nil { // it took too long, which is to be told, too
		const limit = 400 * time.Millisecond
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
	}
	meta, err := s.emco.Meta(ctx, id)
	group, ok := groupOf(meta)
	if err != nil || !ok {
		return
	}
	doc, err := s.Documents.Get(ctx, group)
	if err != nil {
		return
	}
	reason := (&intent.Error{Detail: known.Detail, Fields: known.Fields}).Error() // causes are none of the group's business
	_, err = undisturbed(group, func() (struct{}, error) {
		l, err := s.lifecycle(ctx, group, doc.UID)
		if err == nil && s.note(&l, "refused", id, reason) {
			_, err = s.swap(ctx, group, l)
		}
		return struct{}{}, err
	})
	if err != nil {
		s.Logger.WarnContext(ctx, "a refusal cannot be recorded", "group", group, "appContext", id, "error", err)
	}
}

// noteUnaccepted writes down, once, why what was frozen for an app context could
// not be accepted.
func (s *Service) noteUnaccepted(ctx context.Context, group intent.Path, id string, cause error) error {
	_, err := undisturbed(group, func() (struct{}, error) {
		l, err := s.storedLifecycle(ctx, group)
		if err != nil {
			return struct{}{}, err
		}
		at := l.preparedAt(id)
		if at < 0 || l.Prepared[at].Failure == cause.Error() {
			return struct{}{}, nil
		}
		l.Prepared = slices.Clone(l.Prepared)
		l.Prepared[at].Failure = cause.Error()
		s.note(&l, "failed", id, cause.Error())
		_, err = s.swap(ctx, group, l)
		return struct{}{}, err
	})
	return err
}

// noteUnkept writes down, once, that EMCO has made an app context current that
// no release is kept for, unless that is history.
func (s *Service) noteUnkept(ctx context.Context, group intent.Path, id string) error {
	is, err := s.standing(ctx, id)
	if err != nil {
		return err
	}
	_, err = undisturbed(group, func() (struct{}, error) {
		l, err := s.storedLifecycle(ctx, group)
		if err != nil || l.Unkept == id {
			return struct{}{}, err
		}
		if past := is.as == ended || is.as == superseded && is.other == l.AppContext; past || !l.orchestrated() || l.AppContext == id {
			s.Logger.InfoContext(ctx, "an event of EMCO's changes nothing", "group", group, "appContext", id)
			return struct{}{}, nil
		}
		l.Unkept = id
		s.note(&l, "failed", id, l.Unaccepted())
		s.Logger.WarnContext(ctx, "no release is kept for the app context that EMCO has made current", "group", group, "appContext", id, "follows", l.AppContext)
		_, err = s.swap(ctx, group, l)
		return struct{}{}, err
	})
	return err
}
