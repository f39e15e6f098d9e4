package lint

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// The limits of a confined process. An ordinary Corefile takes a hundredth of
// each.
const (
	memory  = 256 << 20 // bytes that it may write to
	seconds = 10        // of a processor, and on the clock
)

// Confine permanently removes rights that a linter does not need. The process can open no
// file and no connection and start no program, and lives for ten seconds at most. Open
// files stay open.
func Confine() error {
	// The clock comes first: what runs it is opened with the first timer.
	time.AfterFunc(seconds*time.Second, func() {
		fmt.Fprintf(os.Stderr, "signpost-dns: not done after %d seconds\n", seconds)
		os.Exit(1)
	})
	for _, limit := range []struct {
		resource int
		most     uint64
	}{
		{syscall.RLIMIT_CORE, 0},
		{syscall.RLIMIT_CPU, seconds},
		{syscall.RLIMIT_DATA, memory},
		{syscall.RLIMIT_NOFILE, 0},
	} {
		if err := syscall.Setrlimit(limit.resource, &syscall.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
	}
	return nil
}

// isConfined tells whether an error comes from trying to open something. The
// plugins write their causes as text.
func isConfined(err error) bool { return strings.Contains(err.Error(), syscall.EMFILE.Error()) }
