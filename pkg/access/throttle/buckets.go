// Package throttle keeps clients that ask for much from starving others. It has token
// buckets, one for each client, and places for the requests at work at once.
package throttle

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// remembered is how many buckets a generation has. Two generations are kept.
const remembered = 10_000

// Buckets are token buckets by name, each full at first. A bucket that is not used while
// 10,000 others are is forgotten, so memory stays bounded. They are safe for concurrent
// use. A nil *Buckets limits nobody.
type Buckets struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu            sync.Mutex
	recent, older map[string]*rate.Limiter
}

// NewBuckets are buckets that get perSecond tokens in each second, and hold
// burst of them.
func NewBuckets(perSecond float64, burst int) *Buckets {
	return &Buckets{rate: rate.Limit(perSecond), burst: burst, now: time.Now, recent: map[string]*rate.Limiter{}}
}

// Take takes a token from a bucket. If there is none, nothing is taken, and wait is the
// time until there is one.
func (b *Buckets) Take(name string) (wait time.Duration, ok bool) {
	if b == nil {
		return 0, true
	}
	bucket, now := b.bucket(name), b.now()
	if bucket.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - bucket.TokensAt(now)
	return time.Duration(missing / float64(b.rate) * float64(time.Second)), false
}

// Wait takes a token from a bucket as soon as there is one. It fails, at once
// and without taking any, when ctx ends before that.
func (b *Buckets) Wait(ctx context.Context, name string) error {
	if b == nil {
		return nil
	}
	return b.bucket(name).Wait(ctx)
}

// bucket returns the bucket of a name. Buckets in use move to the recent generation. When
// that is full, it becomes the older one, which is forgotten.
func (b *Buckets) bucket(name string) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bucket, ok := b.recent[name]; ok {
		return bucket
	}
	bucket, ok := b.older[name]
	if !ok {
		bucket = rate.NewLimiter(b.rate, b.burst)
	}
	if len(b.recent) >= remembered {
		b.older, b.recent = b.recent, make(map[string]*rate.Limiter, remembered)
	}
	b.recent[name] = bucket
	return bucket
}
