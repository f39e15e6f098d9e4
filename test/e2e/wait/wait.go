// Package wait polls until a condition holds. Tests wait for what they want to
// see, never for a length of time.
package wait

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// interval is how often a condition is looked at. It is short against what a
// person notices and long against the cost of a look.
const interval = 100 * time.Millisecond

// For fails the test unless check succeeds within the timeout. The failure
// names what was waited for and the last reason why it was not so.
func For(t testing.TB, timeout time.Duration, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := Until(ctx, check); err != nil {
		t.Fatalf("waited %s for %s: %v", timeout, what, err)
	}
}

// Always fails the test if check fails at any look during the time. It is for
// what must not happen while something else has the time to happen.
func Always(t testing.TB, during time.Duration, what string, check func() error) {
	t.Helper()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	end := time.NewTimer(during)
	defer end.Stop()
	for {
		if err := check(); err != nil {
			t.Fatalf("%s does not hold: %v", what, err)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-end.C:
			return
		case <-ticker.C:
		}
	}
}

// Until returns nil as soon as check succeeds, and an error with the last
// failure of check when ctx ends first. The first look is at once.
func Until(ctx context.Context, check func() error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
