package builtin

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// said is what a publisher's goroutine tells others.
type said struct {
	mu   sync.Mutex
	told cluster.Publishing
	upTo progress
}

// progress is how far a publisher has come with what it was to remove.
type progress struct {
	known bool
	turn  int64           // of the view that it has taken up
	left  map[string]bool // names that are still to be removed, or have failed
}

func (s *said) tell(now cluster.Publishing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = now
}

// report answers what was done so far.
func (s *said) report() cluster.Publishing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

func (s *said) come(to progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upTo = to
}

func (s *said) progress() progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upTo
}
