package terminal

import (
	"context"
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
