package apply

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// awaited is an action, as far as it stays the same from one step to the next.
type awaited struct {
	id     bundle.ID
	digest string // of what is wanted, empty for nothing
}

// waiting is since when each action that is not done has been waiting.
type waiting map[awaited]time.Time

// after is what waits after a step has decided on these actions, and since when the
// oldest does; zero when none is there. An action that follows from a context waits
// since that was made current, also with another worker. Any other action waits since it
// was first decided on.
func (w waiting) after(actions []action, now time.Time) (next waiting, oldest time.Time) {
	next = make(waiting, len(actions))
	for _, a := range actions {
		key := awaited{a.id, digestOf(a.want)}
		since, known := w[key]
		switch {
		case known:
		case a.want != nil && !a.drift && !a.want.Stages.Times().Decided.IsZero():
			since = a.want.Stages.Times().Decided
		default:
			since = now
		}
		next[key] = since
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	return next, oldest
}
