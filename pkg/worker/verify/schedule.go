package verify

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// schedule orders proofs by when they are to be asked for. The zero one has none.
type schedule struct {
	later later           // those whose turn comes
	ready map[*proof]bool // those whose turn it is
}

// turn is when a proof is to be asked for, and where it stands among the later ones.
type turn struct {
	at    time.Time
	place int // from 1; 0: it is none of them
}

// set takes up when a proof is due.
func (s *schedule) set(one *proof, now time.Time) {
	s.remove(one)
	if wait := one.due(now); wait > 0 {
		one.turn.at = now.Add(wait)
		heap.Push(&s.later, one)
		return
	}
	if s.ready == nil {
		s.ready = map[*proof]bool{}
	}
	s.ready[one] = true
}

// remove drops a proof.
func (s *schedule) remove(one *proof) {
	delete(s.ready, one)
	if one.turn.place > 0 {
		heap.Remove(&s.later, one.turn.place-1)
	}
}

// due are those whose turn it is, as many as are asked at once: what has changed last comes first.
func (s *schedule) due(now time.Time) []*proof {
	for len(s.later) > 0 && !s.later[0].turn.at.After(now) {
		s.set(s.later[0], now)
	}
	due := make([]*proof, 0, len(s.ready))
	for one := range s.ready {
		due = append(due, one)
	}
	slices.SortFunc(due, func(a, b *proof) int {
		return cmp.Or(order(a.done)-order(b.done), b.began.Compare(a.began), cmp.Compare(a.key, b.key))
	})
	count := 0
	for n, one := range due {
		if count += len(one.asks); count > questionsAtOnce && n > 0 {
			return due[:n]
		}
	}
	return due
}

func order(last bool) int {
	if last {
		return 1
	}
	return 0
}

// wait answers how long it takes until the next proof is due.
func (s *schedule) wait(now time.Time) time.Duration {
	switch {
	case len(s.ready) > 0:
		return 0
	case len(s.later) == 0:
		return verifyRarely
	}
	return max(0, min(verifyRarely, s.later[0].turn.at.Sub(now)))
}

// later implements heap.Interface: the first one is due first.
type later []*proof

// Len implements heap.Interface.
func (l *later) Len() int { return len(*l) }

// Less implements heap.Interface.
func (l *later) Less(i, j int) bool { return (*l)[i].turn.at.Before((*l)[j].turn.at) }

// Swap implements heap.Interface.
func (l *later) Swap(i, j int) {
	all := *l
	all[i], all[j] = all[j], all[i]
	all[i].turn.place, all[j].turn.place = i+1, j+1
}

// Push implements heap.Interface.
func (l *later) Push(one any) {
	added, _ := one.(*proof)
	*l = append(*l, added)
	added.turn.place = len(*l)
}

// Pop implements heap.Interface.
func (l *later) Pop() any {
	last := (*l)[len(*l)-1]
	(*l)[len(*l)-1] = nil
	*l = (*l)[:len(*l)-1]
	last.turn.place = 0
	return last
}
