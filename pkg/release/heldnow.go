package release

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// heldNow is which names this replica's last steps have kept published although
// nothing offers them an address.
type heldNow struct {
	mu sync.Mutex
	by map[intent.Path][]Held // by group
}

func (n *heldNow) note(group intent.Path, held []Held) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(held) == 0 {
		delete(n.by, group)
		return
	}
	if n.by == nil {
		n.by = map[intent.Path][]Held{}
	}
	n.by[group] = held
}

// HeldNames is how many names of each record stay published although nothing
// offers them an address any more, for too many would go; by the last steps of
// this replica. Records without any are left out.
func (s *Service) HeldNames() map[intent.Path]int {
	s.heldNow.mu.Lock()
	defer s.heldNow.mu.Unlock()
	out := map[intent.Path]int{}
	for _, held := range s.heldNow.by {
		for _, h := range held {
			if h.Names > 0 {
				out[h.Record] += h.Names
			}
		}
	}
	return out
}
