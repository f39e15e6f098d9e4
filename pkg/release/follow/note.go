package follow

import (
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Note records an outcome of an orchestrator's app context. It answers false, and
// records nothing, if the last event of the orchestrator says the same.
func Note(now time.Time, l *state.Lifecycle, outcome, id, what string) bool {
	e := intent.Event{Time: now.UTC(), Actor: intent.OrchestratorActor, Action: l.FollowingAction(""), Revision: l.Seq, Outcome: outcome}
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
