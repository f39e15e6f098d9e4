package verify

import (
	"container/heap"
	"time"
)

// schedule orders proofs by when they are to be asked for. The zero one has none. Each call costs the logarithm of how many
// there are.
type schedule struct {
	epoch time.Time // from which turns are counted
	later line      // those whose turn comes
	ready line      // those whose turn it is
}

// turn is when a proof is to be asked for, and where it stands in its line.
type turn struct {
	at    time.Duration // since the epoch: when its turn comes, or if it is ready, when its questions began
	place int32         // in its line, from 1; 0: it stands in none
	ready bool
	done  bool // of one that is ready: it was answered before
}

// set takes up when a proof is due.
func (s *schedule) set(one *proof, now time.Time) {
	s.remove(one)
	if wait := one.due(now); wait > 0 {
		one.turn = turn{at: s.since(now) + wait}
		heap.Push(&s.later, one)
		return
	}
	one.turn = turn{at: s.since(one.began), ready: true, done: one.done}
	heap.Push(&s.ready, one)
}

// since counts from the first time that was asked for, by the clock that nobody sets.
func (s *schedule) since(at time.Time) time.Duration {
	if s.epoch.IsZero() {
		s.epoch = at
	}
	return at.Sub(s.epoch)
}

// remove drops a proof.
func (s *schedule) remove(one *proof) {
	switch {
	case one.turn.place == 0:
	case one.turn.ready:
		heap.Remove(&s.ready, int(one.turn.place)-1)
	default:
		heap.Remove(&s.later, int(one.turn.place)-1)
	}
}

// due takes out those whose turn it is, as many as are asked at once: what has changed last comes first. They are to be set again.
func (s *schedule) due(now time.Time) (due []*proof) {
	for len(s.later) > 0 && s.later[0].turn.at <= s.since(now) {
		s.set(s.later[0], now)
	}
	for count := 0; len(s.ready) > 0; {
		if count += len(s.ready[0].asks); count > questionsAtOnce && len(due) > 0 {
			break
		}
		one, _ := heap.Pop(&s.ready).(*proof)
		due = append(due, one)
	}
	return due
}

// wait answers how long it takes until the next proof is due.
func (s *schedule) wait(now time.Time) time.Duration {
	switch {
	case len(s.ready) > 0:
		return 0
	case len(s.later) == 0:
		return verifyRarely
	}
	return max(0, min(verifyRarely, s.later[0].turn.at-s.since(now)))
}

// line implements heap.Interface: the first one is due first.
type line []*proof

// Len implements heap.Interface.
func (l *line) Len() int { return len(*l) }

// Less implements heap.Interface. It compares what the turns say, which stays while they stand in line.
func (l *line) Less(i, j int) bool {
	a, b := (*l)[i].turn, (*l)[j].turn
	switch {
	case !a.ready:
		return a.at < b.at
	case a.done != b.done:
		return b.done
	case a.at != b.at:
		return a.at > b.at
	}
	return (*l)[i].key < (*l)[j].key
}

// Swap implements heap.Interface.
func (l *line) Swap(i, j int) {
	all := *l
	all[i], all[j] = all[j], all[i]
	all[i].turn.place, all[j].turn.place = int32(i)+1, int32(j)+1 //nolint:gosec // no cluster has two billion
}

// Push implements heap.Interface.
func (l *line) Push(one any) {
	added, _ := one.(*proof)
	*l = append(*l, added)
	added.turn.place = int32(len(*l)) //nolint:gosec // likewise
}

// Pop implements heap.Interface.
func (l *line) Pop() any {
	last := (*l)[len(*l)-1]
	(*l)[len(*l)-1] = nil
	*l = (*l)[:len(*l)-1]
	last.turn.place = 0
	return last
}
