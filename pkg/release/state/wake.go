package state

import (
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// LookAgain is when an owner is looked at again if nobody tells of what it waits for.
const LookAgain = 10 * time.Second

// LookTogether is when a provider is looked at for one of its names, so that one look is for many of them.
const LookTogether = time.Second

// Wakeup has the controller look at an owner, or at several whose names read together.
type Wakeup struct {
	Owners []intent.Path // not empty
	At     time.Time     // zero: now, for something has changed; of a single owner only
	First  bool          // its first release was just accepted, and nothing of it is published; of a single owner only
}

// Wakeups passes wakeups to its listener, in the call that wakes. So owners that a step
// wakes are in the controller's queue before the step ends. It keeps wakeups while nobody
// listens. It is safe for concurrent use; a nil *Wakeups drops all.
type Wakeups struct {
	mu     sync.Mutex
	early  []Wakeup
	listen func(Wakeup)

	expected recent.Memory[intent.Path, int64] // revisions of lifecycles
}

// maxEarly is how many wakeups are kept for a listener. The scan finds the owners of
// further ones.
const maxEarly = 1024

// Listen passes the kept wakeups and all later ones to a function, which must not block.
func (w *Wakeups) Listen(listen func(Wakeup)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listen = listen
	for _, one := range w.early {
		listen(one)
	}
	w.early = nil
}

// Add passes a wakeup on.
func (w *Wakeups) Add(one Wakeup) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.listen != nil:
		w.listen(one)
	case len(w.early) < maxEarly:
		w.early = append(w.early, one)
	}
}

// Wake lets a controller look at an owner at once, this process' own or, through its Notifier,
// another's. When it is behind, its scan finds the owner.
func (s *Store) Wake(owner intent.Path) { s.WakeAt(owner, time.Time{}) }

// WakeAll is Wake for owners that are woken for one reason. Their names read together.
func (s *Store) WakeAll(owners []intent.Path) {
	if len(owners) > 0 {
		s.Wakeups.Add(Wakeup{Owners: owners})
	}
}

// WakeAt lets the controller look at an owner at a time.
func (s *Store) WakeAt(owner intent.Path, at time.Time) {
	s.Wakeups.Add(Wakeup{Owners: []intent.Path{owner}, At: at})
}

const mostExpected = 16 << 10 // owners; if one is forgotten too early, a step looks at it in vain

// Expect notes the revision of an owner's lifecycle that a step has read, or that is about
// to be written here; 0: none. Nobody is woken for this revision. The caller sees to it that
// the owner is stepped again, also if the write fails.
func (w *Wakeups) Expect(owner intent.Path, revision int64) {
	if w != nil {
		w.expected.Keep(owner, revision, mostExpected)
	}
}

// Expects tells whether a revision of an owner's lifecycle is the one that was noted last, or
// older: news may come late. A deletion, after which revisions begin again, is not expected.
func (w *Wakeups) Expects(owner intent.Path, revision int64) bool {
	expected, known := w.expected.Get(owner)
	return known && 0 < revision && revision <= expected
}
