// Package faults kills what Signpost is, and what it stands on, at the worst
// moments: the process itself just before and just after each of its writes,
// and the members of its etcd. Signpost needs nothing for that: between it and
// the real servers are taps, which count its writes and strike at one.
package faults

import (
	"errors"
	"slices"
	"sync"
)

// Write is one write that came to a tap.
type Write struct {
	Edge string // "etcd", or the name of a cluster
	What string // the first key, or the method and path
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
	at     int
	moment Moment
	deal   func()
	done   chan struct{}
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

// Strike begins to count anew, and calls deal at the moment of write number at,
// the first being 0. The channel closes when deal has returned.
func (t *Tap) Strike(at int, moment Moment, deal func()) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := make(chan struct{})
	t.writes, t.strike = nil, strike{at, moment, deal, done}
	return done
}

// Writes are those that came since counting began, in order.
func (t *Tap) Writes() []Write {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.writes)
}

// pass lets a write through by forward, unless the process is to die of it.
func (t *Tap) pass(w Write, forward func() error) error {
	t.mu.Lock()
	number, s := len(t.writes), t.strike
	t.writes = append(t.writes, w)
	t.mu.Unlock()
	mine := s.deal != nil && number == s.at
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
