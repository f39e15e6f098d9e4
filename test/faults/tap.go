// Package faults kills what Signpost is, and what it stands on, at the worst
// moments: the process itself, its etcd or the API server of its cluster just
// before and just after each write, and the members of its etcd. Signpost needs nothing for that: between it and
// the real servers are taps, which count its writes and strike at one.
package faults

import (
	"errors"
	"slices"
	"sync"
)

// Write is one write that came to a tap.
type Write struct {
	Edge  string // "etcd", or the name of a cluster
	What  string // the first key, or the method and path
	Trace string // that it says it belongs to, as traceparent; empty for none
}

// Moment is when a tap strikes at a write.
type Moment int

// The two moments.
const (
	Before Moment = iota // the server never gets the write
	After                // the server has answered, and the answer is not passed on
)

// String is the moment's name.
func (m Moment) String() string {
	if m == Before {
		return "before"
	}
	return "after"
}

// Tap counts the writes of one process at all its edges.
type Tap struct {
	mu     sync.Mutex
	writes []Write
	strike strike
}

// strike is what happens at one write; none where deal is nil.
type strike struct {
	edge   string // where writes count; empty: everywhere
	at     int
	moment Moment
	deal   func()
	done   chan struct{}
	begun  bool // a write has come at which it strikes
}

// errStruck is the answer to the write that a tap struck at. Nobody is there
// to hear it.
var errStruck = errors.New("struck")

// Count begins to count anew, and strikes at none.
func (t *Tap) Count() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes, t.strike = nil, strike{}
}

// Strike begins to count anew, and calls deal at the moment of write number at
// to an edge, or to any where that is empty. The first has the number 0. The
// channel closes when deal has returned.
func (t *Tap) Strike(edge string, at int, moment Moment, deal func()) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := make(chan struct{})
	t.writes, t.strike = nil, strike{edge: edge, at: at, moment: moment, deal: deal, done: done}
	return done
}

// Rest strikes at no write any more. Where it does so just now, it waits until that
// is over. It goes on counting.
func (t *Tap) Rest() {
	t.mu.Lock()
	s := t.strike
	t.strike = strike{}
	t.mu.Unlock()
	if s.begun {
		<-s.done
	}
}

// Writes are those to an edge, or to all where that is empty, that came since
// counting began, in order.
func (t *Tap) Writes(edge string) []Write {
	t.mu.Lock()
	defer t.mu.Unlock()
	return writesTo(edge, t.writes)
}

func writesTo(edge string, writes []Write) []Write {
	return slices.DeleteFunc(slices.Clone(writes), func(w Write) bool { return edge != "" && w.Edge != edge })
}

// pass lets a write through by forward, unless the process is to die of it.
func (t *Tap) pass(w Write, forward func() error) error {
	t.mu.Lock()
	s := t.strike
	number := len(writesTo(s.edge, t.writes))
	t.writes = append(t.writes, w)
	mine := s.deal != nil && number == s.at && (s.edge == "" || s.edge == w.Edge)
	t.strike.begun = t.strike.begun || mine
	t.mu.Unlock()
	if !mine || s.moment == After {
		err := forward()
		if !mine {
			return err
		}
	}
	s.deal()
	close(s.done)
	return errStruck
}
