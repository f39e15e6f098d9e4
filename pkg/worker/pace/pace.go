// Package pace says when the parts of a worker try again.
package pace

import "time"

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

// Waits between two attempts at something that fails: from the first to the longest.
const (
	RetryFirst   = 250 * time.Millisecond
	RetryLongest = 10 * time.Second
)

// Settled is how often a worker looks again at a cluster in which nothing is
// left to do.
const Settled = time.Minute

// A worker goes through all objects of a cluster in each step. In between it rests for so
// many times the time that this took, if that is worth mentioning.
const (
	restShare = 8
	restLeast = 10 * time.Millisecond
	restMost  = 500 * time.Millisecond
)

// Rest answers how long a worker rests after a step that took so long to decide. Changes
// that come meanwhile are joined. So many changes in a large cluster take a bounded part of
// the processor, and one change after a rest is followed at once.
func Rest(took time.Duration) time.Duration {
	rest := min(restShare*took, restMost)
	if rest < restLeast {
		return 0
	}
	return rest
}

// Backoff answers the wait after count failures: it doubles from first to longest.
func Backoff(first, longest time.Duration, count int) time.Duration {
	if count >= 16 {
		return longest
	}
	return min(first<<count, longest)
}
