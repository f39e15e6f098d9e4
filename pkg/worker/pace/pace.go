// Package pace says when the parts of a worker try again.
package pace

import (
	"context"
	"time"
)

// Clock is the time.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// Wall is the clock of the machine.
type Wall struct{}

// Now answers the time of the machine.
func (Wall) Now() time.Time { return time.Now() }

// After delivers the time once d has passed.
func (Wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Gap is at least between two steps of a Loop.
const Gap = 500 * time.Millisecond

// Loop makes a step whenever a signal is given, or the wait that the step before has answered is over, until ctx ends.
func Loop(ctx context.Context, clock Clock, signal <-chan struct{}, step func(context.Context) (wait time.Duration)) {
	for {
		wait := step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-clock.After(Gap):
		}
		select {
		case <-ctx.Done():
			return
		case <-signal:
		case <-clock.After(wait - Gap):
		}
	}
}

// Waits between two attempts at something that fails: from the first to the longest.
const (
	RetryFirst   = 250 * time.Millisecond
	RetryLongest = 10 * time.Second
)

// Settled is how often a worker looks again at a cluster in which nothing is
// left to do.
const Settled = time.Minute

// Backoff answers the wait after count failures: it doubles from first to longest.
func Backoff(first, longest time.Duration, count int) time.Duration {
	if count >= 16 {
		return longest
	}
	return min(first<<count, longest)
}
