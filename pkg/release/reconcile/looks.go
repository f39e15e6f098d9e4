package reconcile

import (
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// looks is when names at rest are looked at again of which too many would go. There may be very many of them: they are looked at
// one after the other, so that they leave time for changes.
type looks struct {
	mu    sync.Mutex
	last  time.Time
	turns map[intent.Path]time.Time
}

const looksApart = 50 * time.Millisecond

// next is when a name is looked at. It keeps its turn, unless the clock was set back since.
func (l *looks) next(name intent.Path, now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := max(state.LookAgain, time.Duration(len(l.turns)+1)*looksApart)
	if at := l.turns[name]; at.After(now) && at.Sub(now) <= longest {
		return at
	}
	if l.turns == nil {
		l.turns = map[intent.Path]time.Time{}
	}
	behind := min(l.last.Sub(now), time.Duration(len(l.turns))*looksApart) + looksApart
	l.last = now.Add(max(state.LookAgain, behind))
	l.turns[name] = l.last
	return l.last
}

// drop gives up the turn of a name.
func (l *looks) drop(name intent.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.turns, name)
}
