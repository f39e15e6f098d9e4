package wait_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/wait"
)

func TestUntilReturnsAtTheFirstSuccess(t *testing.T) {
	looks := 0
	err := wait.Until(t.Context(), func() error {
		looks++
		if looks < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || looks != 3 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

func TestUntilTellsTheLastFailure(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	reason := errors.New("the name does not resolve")
	err := wait.Until(ctx, func() error { return reason })
	if !errors.Is(err, reason) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

func TestForNamesWhatItWaitedFor(t *testing.T) {
	record := &recorder{TB: t}
	wait.For(record, time.Millisecond, "the answer", func() error { return errors.New("none") })
	if !strings.Contains(record.fatal, "the answer") || !strings.Contains(record.fatal, "none") {
		t.Errorf("failure is %q", record.fatal)
	}
}

func TestAlwaysFailsAtTheFirstBadLook(t *testing.T) {
	looks := 0
	record := &recorder{TB: t, panics: true}
	func() {
		defer func() { _ = recover() }()
		wait.Always(record, time.Minute, "the answer", func() error {
			looks++
			if looks == 2 {
				return errors.New("it is gone")
			}
			return nil
		})
	}()
	if looks != 2 || !strings.Contains(record.fatal, "it is gone") {
		t.Errorf("after %d looks the failure is %q", looks, record.fatal)
	}
}

// recorder keeps the message of a failure instead of failing.
type recorder struct {
	testing.TB
	fatal  string
	panics bool
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	if r.panics {
		panic(r.fatal)
	}
}
