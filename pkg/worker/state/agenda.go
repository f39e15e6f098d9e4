package state

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// Agenda names the objects that the next step decides about: those of which something may
// have changed since the last decision. The zero one names none. It is safe for concurrent
// use.
type Agenda struct {
	mu  sync.Mutex
	ids map[bundle.ID]bool
	all bool
}

// Add puts objects on the agenda.
func (a *Agenda) Add(ids ...bundle.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all {
		return
	}
	if a.ids == nil {
		a.ids = map[bundle.ID]bool{}
	}
	for _, id := range ids {
		a.ids[id] = true
	}
}

// AddAll puts all objects on the agenda.
func (a *Agenda) AddAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids, a.all = nil, true
}

// Take answers what is on the agenda, and empties it.
func (a *Agenda) Take() (ids map[bundle.ID]bool, all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids, all = a.ids, a.all
	a.ids, a.all = nil, false
	return ids, all
}
