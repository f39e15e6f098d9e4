package state

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Wakeup has the controller look at an owner.
type Wakeup struct {
	Owner intent.Path
	At    time.Time // zero: at once, for something has changed
}

// Wake lets a controller look at an owner at once, this process' own or, through
// its Notifier, another's. When it is behind, its
// scan finds the owner.
func (s *Store) Wake(owner intent.Path) { s.WakeAt(owner, time.Time{}) }

// WakeAt lets the controller look at an owner at a time.
func (s *Store) WakeAt(owner intent.Path, at time.Time) {
	select {
	case s.Enqueued <- Wakeup{owner, at}:
	default:
	}
}
