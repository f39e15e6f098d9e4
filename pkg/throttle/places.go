package throttle

import (
	"context"
	"sync"
	"time"
)

// Places are taken by what is at work at once. Who finds none free waits for its
// turn, first come, first served.
type Places struct {
	free     chan struct{}
	patience time.Duration
}

// NewPlaces are n places, each waited for as long as patience lasts; 0: not at
// all.
func NewPlaces(n int, patience time.Duration) *Places {
	return &Places{free: make(chan struct{}, n), patience: patience}
}

// Enter takes a place, which leave gives back. It is false when none has become
// free in time, or before ctx has ended.
func (p *Places) Enter(ctx context.Context) (leave func(), ok bool) {
	leave = func() { <-p.free }
	select {
	case p.free <- struct{}{}:
		return leave, true
	default:
	}
	if p.patience == 0 {
		return nil, false
	}
	turn := time.NewTimer(p.patience)
	defer turn.Stop()
	select {
	case p.free <- struct{}{}:
		return leave, true
	case <-turn.C:
	case <-ctx.Done():
	}
	return nil, false
}

// Len is how many places there are.
func (p *Places) Len() int { return cap(p.free) }

// Shares keep one from taking all places there are: nobody has more than so
// many at once. They are safe for concurrent use.
type Shares struct {
	most int

	mu    sync.Mutex
	taken map[string]int // by who has them; more than 0
}

// NewShares are shares of most places, at least one.
func NewShares(most int) *Shares { return &Shares{most: max(most, 1), taken: map[string]int{}} }

// Take takes a place of a name's share, which leave gives back. It is false when
// the name has all of its share.
func (s *Shares) Take(name string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[name] >= s.most {
		return nil, false
	}
	s.taken[name]++
	return func() { s.leave(name) }, true
}

func (s *Shares) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[name]--
	if s.taken[name] == 0 {
		delete(s.taken, name)
	}
}
