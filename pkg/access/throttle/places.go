package throttle

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Places are taken by requests that are at work at once. A request that finds none free
// waits for its turn, first come, first served.
type Places struct {
	free     *semaphore.Weighted
	n        int
	patience time.Duration
}

// NewPlaces makes n places, each waited for as long as patience lasts; 0: not at all.
func NewPlaces(n int, patience time.Duration) *Places {
	return &Places{free: semaphore.NewWeighted(int64(n)), n: n, patience: patience}
}

// Enter takes a place, which leave gives back. It is false when none has become
// free in time, or before ctx has ended.
func (p *Places) Enter(ctx context.Context) (leave func(), ok bool) {
	if !acquire(ctx, p.free, p.patience) {
		return nil, false
	}
	return func() { p.free.Release(1) }, true
}

// Len is how many places there are.
func (p *Places) Len() int { return p.n }

// acquire takes one of a semaphore, for which it waits as long as patience lasts.
func acquire(ctx context.Context, of *semaphore.Weighted, patience time.Duration) bool {
	if of.TryAcquire(1) {
		return true
	}
	if patience == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return of.Acquire(ctx, 1) == nil
}

// Shares keep one client from taking all there is: no name has more than so much at
// once. They are safe for concurrent use.
type Shares struct {
	most     int64
	patience time.Duration

	mu    sync.Mutex
	taken map[string]*share // by the names that have some, or wait for some
}

// share is what one name may have.
type share struct {
	*semaphore.Weighted
	users int // requests that have a part of it, or wait for one; more than 0
}

// NewShares makes shares of most places, at least one, each waited for as long as
// patience lasts; 0: not at all.
func NewShares(most int, patience time.Duration) *Shares {
	return newShares(int64(max(most, 1)), patience)
}

func newShares(most int64, patience time.Duration) *Shares {
	return &Shares{most: most, patience: patience, taken: map[string]*share{}}
}

// Take takes a place of a name's share, which leave gives back. It is false when
// the name has all of its share, and none has become free in time, or before ctx
// has ended.
func (s *Shares) Take(ctx context.Context, name string) (leave func(), ok bool) {
	own := s.use(name)
	ok = acquire(ctx, own.Weighted, s.patience)
	if !ok {
		s.forget(name)
		return nil, false
	}
	return func() { own.Release(1); s.forget(name) }, true
}

func (s *Shares) use(name string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, known := s.taken[name]
	if !known {
		of = &share{Weighted: semaphore.NewWeighted(s.most)}
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
