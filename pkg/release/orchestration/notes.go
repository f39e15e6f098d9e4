package orchestration

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// notePrepared records that a release was frozen for an app context, and what
// is to be said of it.
func (s *Sync) notePrepared(ctx context.Context, l *state.Lifecycle, p *resolve.Proposal) {
	by, level := p.Draft.In.Orchestration, slog.LevelInfo
	what := "prepared for traffic group " + strings.Join(by.Traffic, ", ")
	if len(p.Draft.Warnings) > 0 {
		what, level = what+"; warnings: "+strings.Join(p.Draft.Warnings, "; "), slog.LevelWarn
	}
	follow.Note(s.Now(), l, state.OutcomePrepared, by.ID, what)
	s.Logger.Log(ctx, level, "a release is prepared for an app context of EMCO", "group", p.Draft.Group.Path, "appContext", by.ID, "warnings", p.Draft.Warnings)
}

// toldIn is a context in which is said what may be noted of a group: all who may
// read its project read that.
func toldIn(ctx context.Context, group intent.Path) context.Context {
	return intent.Within(ctx, group.Segment("projects"))
}

// noteRefused records, once, why a release could not be frozen for an app
// context, with the group that its meta names.
func (s *Sync) noteRefused(ctx context.Context, id string, cause error) {
	s.Logger.WarnContext(ctx, "an app context of EMCO is refused", "appContext", id, "error", cause)
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
	meta, err := s.EMCO.Meta(ctx, id)
	group, ok := follow.GroupOf(meta)
	if err != nil || !ok {
		return
	}
	doc, err := s.Documents.Get(ctx, group)
	if err != nil {
		return
	}
	reason := (&intent.Error{Detail: known.Detail, Fields: known.Fields}).Error() // causes are none of the group's business
	_, err = state.RetryOnConflict(ctx, group, func(ctx context.Context) (struct{}, error) {
		l, err := s.Lifecycle(ctx, group, doc.UID)
		if err == nil && follow.Note(s.Now(), &l, "refused", id, reason) {
			err = s.Swap(ctx, group, l)
		}
		return struct{}{}, err
	})
	if err != nil {
		s.Logger.WarnContext(ctx, "a refusal cannot be recorded", "group", group, "appContext", id, "error", err)
	}
}

// noteIn notes something in the lifecycle of a group, where it is not noted yet.
func (s *Sync) noteIn(ctx context.Context, group intent.Path, note func(l *state.Lifecycle) bool) error {
	_, err := state.RetryOnConflict(ctx, group, func(ctx context.Context) (struct{}, error) {
		l, err := s.StoredLifecycle(ctx, group)
		if err == nil && note(&l) {
			err = s.Swap(ctx, group, l)
		}
		return struct{}{}, err
	})
	return err
}

// noteUnaccepted notes, once, why what was frozen for an app context could not be
// accepted, where that is the cause. It answers whether it has.
func (s *Sync) noteUnaccepted(l *state.Lifecycle, id string, cause error) bool {
	at := l.PreparedAt(id)
	if intent.CodeOf(cause) != intent.Conflict || at < 0 || l.Prepared[at].Failure == cause.Error() {
		return false
	}
	l.Prepared = slices.Clone(l.Prepared)
	l.Prepared[at].Failure = cause.Error()
	follow.Note(s.Now(), l, "failed", id, cause.Error())
	return true
}

// noteUnkept notes, once, that EMCO has made an app context current that no release
// is kept for, unless that is history. It answers whether it has.
func (s *Sync) noteUnkept(ctx context.Context, group intent.Path, l *state.Lifecycle, is follow.ContextState) bool {
	if l.Unkept == is.ID {
		return false
	}
	if past := is.As == follow.Ended || is.As == follow.Superseded && is.Other == l.AppContext; past || !l.Orchestrated() || l.AppContext == is.ID {
		s.Logger.InfoContext(ctx, "an event of EMCO changes nothing", "group", group, "appContext", is.ID)
		return false
	}
	l.Unkept = is.ID
	follow.Note(s.Now(), l, "failed", is.ID, l.Unaccepted())
	s.Logger.WarnContext(ctx, "no release is kept for EMCO's current app context", "group", group, "appContext", is.ID, "follows", l.AppContext)
	return true
}
