package reconcile

import (
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// looks is when owners at rest are looked at again.
type looks struct {
	mu   sync.Mutex
	last time.Time
}

// Very many owners are looked at one after the other, so that they leave time for changes.
const (
	looksApart  = 50 * time.Millisecond
	longestLook = time.Hour // until the next one, also if the clock was set back
)

// next is when one more owner is looked at.
func (l *looks) next(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := now.Add(state.LookAgain)
	if apart := l.last.Add(looksApart); apart.After(at) && apart.Before(now.Add(longestLook)) {
		at = apart
	}
	l.last = at
	return at
}
