package throttle

import (
	"context"
	"sync"
	"time"
)

// Places are the slots of concurrent requests. A request that finds none free waits for
// its turn, first come, first served.
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
	most     int
	patience time.Duration

	mu    sync.Mutex
	taken map[string]*share // by who has some, or waits for one
}

// share is what one has of the places.
type share struct {
	*Places
	users int // who have a place of it, or wait for one; more than 0
}

// NewShares are shares of most places, at least one, each waited for as long as
// patience lasts; 0: not at all.
func NewShares(most int, patience time.Duration) *Shares {
	return &Shares{most: max(most, 1), patience: patience, taken: map[string]*share{}}
}

// Take takes a place of a name's share, which leave gives back. It is false when
// the name has all of its share, and none has become free in time, or before ctx
// has ended.
func (s *Shares) Take(ctx context.Context, name string) (leave func(), ok bool) {
	place, ok := s.use(name).Enter(ctx)
	if !ok {
		s.forget(name)
		return nil, false
	}
	return func() { place(); s.forget(name) }, true
}

func (s *Shares) use(name string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, known := s.taken[name]
	if !known {
		of = &share{Places: NewPlaces(s.most, s.patience)}
		s.taken[name] = of
	}
	of.users++
	return of
}

func (s *Shares) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.taken[name]
	of.users--
	if of.users == 0 {
		delete(s.taken, name)
	}
}
