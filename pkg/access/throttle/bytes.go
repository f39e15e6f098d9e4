package throttle

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bytes are memory that concurrent requests share. A request that finds too few free
// bytes waits for a turn, first come, first served. No name has more than half. They
// are safe for concurrent use.
type Bytes struct {
	all      *semaphore.Weighted
	halves   *Shares
	patience time.Duration
}

// NewBytes are most bytes, each waited for as long as patience lasts.
func NewBytes(most int64, patience time.Duration) *Bytes {
	const shares = 2
	return &Bytes{all: semaphore.NewWeighted(most), halves: newShares(most/shares, patience), patience: patience}
}

// Taken is what somebody has of the memory. A nil *Taken is nothing.
type Taken struct {
	of    *Bytes
	own   *share
	name  string
	bytes int64
}

// Take takes n bytes, or half of all where that is less. It is false when they have
// not become free in time, or before ctx has ended.
func (b *Bytes) Take(ctx context.Context, name string, n int64) (taken *Taken, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	n = min(n, b.halves.most)
	own := b.halves.use(name)
	if own.Acquire(ctx, n) != nil {
		b.halves.forget(name)
		return nil, false
	}
	if b.all.Acquire(ctx, n) != nil {
		own.Release(n)
		b.halves.forget(name)
		return nil, false
	}
	return &Taken{of: b, own: own, name: name, bytes: n}, true
}

// Shrink gives back what is beyond n bytes.
func (t *Taken) Shrink(n int64) {
	if t == nil || n >= t.bytes {
		return
	}
	t.of.all.Release(t.bytes - n)
	t.own.Release(t.bytes - n)
	t.bytes = n
}

// Leave gives back all of it. It is called once.
func (t *Taken) Leave() {
	if t == nil {
		return
	}
	t.Shrink(0)
	t.of.halves.forget(t.name)
}
