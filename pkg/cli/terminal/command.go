// Package terminal holds what all commands share: streams, tables, output formats, and
// errors of usage.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Exactly refuses every number of arguments but n; what names them.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return Usagef("accepts no arguments, not %q", strings.Join(args, " "))
		}
		return Usagef("takes %s, not %d arguments", what, len(args))
	}
}

// Printf writes to a terminal or a pipe; when nobody reads it any more, there
// is nobody to tell either.
func Printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// Sleep waits for d and answers true, or false when ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// usageError says that the command line or the configuration is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef makes an error of usage.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// AsUsageError makes an error one of usage.
func AsUsageError(err error) error { return usageError{err} }

// AsTimeoutError makes an error one of a wait that was in vain.
func AsTimeoutError(err error) error { return TimeoutError{err} }

// IsUsage says whether the command line or the configuration is wrong.
func IsUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage)
}

// ChangesError says that a plan would change something. That is a result, and no failure.
type ChangesError struct{}

// Error tells the result.
func (ChangesError) Error() string { return "something would change" }

// TimeoutError says that what a command waited for did not happen in time.
type TimeoutError struct{ error }

// Program is what the commands need of the world outside.
type Program struct {
	Name string        // as which the user calls it; empty for signpost
	Poll time.Duration // between two looks at a status
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
}
