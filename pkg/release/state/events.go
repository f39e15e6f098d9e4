package state

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Events lists what happened to a group, oldest first.
func (s *Store) Events(ctx context.Context, group intent.Path) ([]intent.Event, error) {
	doc, err := s.Documents.Get(ctx, group)
	if err != nil {
		return nil, err
	}
	l, err := s.Lifecycle(ctx, group, doc.UID)
	return append([]intent.Event{}, l.Events...), err
}

// Outcomes of what an orchestrator asks for, beside those of all requests.
const (
	OutcomePrepared = "prepared" // a release was frozen for an app context
	OutcomeDropped  = "dropped"  // it went with the context
)

// Note records an outcome of an orchestrator's app context. It answers false, and
// records nothing, if the last event of the orchestrator says the same.
func (s *Store) Note(l *Lifecycle, outcome, id, what string) bool {
	e := intent.Event{Time: s.Now().UTC(), Actor: intent.OrchestratorActor, Action: l.FollowingAction(""), Revision: l.Seq, Outcome: outcome}
	if l.IsPrepared(id) {
		e.Action = l.FollowingAction(id)
	}
	if by := "app context " + id; !strings.HasPrefix(strings.TrimPrefix(what, intent.OrchestratorName+"'s "), by) {
		what = by + ": " + what
	}
	e.Message = clip(what)
	for _, last := range slices.Backward(l.Events) {
		if last.Actor == intent.OrchestratorActor {
			if last.Outcome == e.Outcome && last.Message == e.Message {
				return false
			}
			break
		}
	}
	l.Record(e)
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

// ProjectName is the project of a path.
func ProjectName(group intent.Path) string { return group.Segment("projects") }

// CameFrom tells whether the group's app context, or one before it, took the
// place of one of another group.
func (l *Lifecycle) CameFrom(appContext string) bool {
	return l.Orchestrated() && slices.ContainsFunc(l.Prepared, func(p Prepared) bool {
		return p.From == appContext && !l.Older(l.AppContext, p.AppContext)
	})
}
