package observed

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// How long a Service that lost its last ready endpoint has to have one again
// before it counts.
const (
	holdFirst   = 5 * time.Second // of the second turn in short sequence; the first one's is nothing
	holdLongest = 5 * time.Minute
	holdQuiet   = 10 * time.Minute // after which turns are forgotten
	turnsMost   = 8                // from which on the hold is the longest
)

// hold is of a Service that is ready, and does not count as that yet.
type hold struct {
	since, until time.Time
}

// damp is what is written of a Service's readiness: that it is bad at once, and
// that it is good after the hold.
func (w *Writer) damp(key string, before, seen *address.Readiness, now time.Time) *address.Readiness {
	held, holding := w.held[key]
	delete(w.held, key)
	switch {
	case seen == nil:
		return nil
	case before == nil:
		return turned(*seen, now, 0)
	case before.Ready > 0 && seen.Ready > 0:
		return before
	case before.Ready > 0:
		return turned(*seen, now, turns(*before, now))
	case seen.Ready == 0 && holding:
		return turned(*before, now, turns(*before, now))
	case seen.Ready == 0:
		return before
	case !holding:
		held.since = now
		held.until = now.Add(holdFor(*before, now))
	}
	if now.Before(held.until) {
		w.held[key] = held
		return before
	}
	return turned(*seen, now, before.Turns)
}

func turned(r address.Readiness, at time.Time, turns int) *address.Readiness {
	r.Since, r.Turns = at, turns
	return &r
}

// turns counts one more turn to the bad.
func turns(before address.Readiness, now time.Time) int {
	if now.Sub(before.Since) >= holdQuiet {
		return 1
	}
	return min(before.Turns+1, turnsMost)
}

// holdFor is how long the Service has to be good before it counts.
func holdFor(before address.Readiness, now time.Time) time.Duration {
	if before.Turns <= 1 || now.Sub(before.Since) >= holdQuiet {
		return 0
	}
	return min(holdFirst<<(before.Turns-2), holdLongest)
}
