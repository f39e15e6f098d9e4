package cli

import (
	"errors"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// The exit codes, as `signpost --help` tells them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitChanges     = 2 // of plan -f and apply --dry-run, which print the changes
	exitUnreachable = 3
	exitTimeout     = 4
)

// exitCode maps a command's error.
func exitCode(err error) int {
	var timeout terminal.TimeoutError
	switch {
	case err == nil:
		return exitDone
	case terminal.IsUsage(err):
		return exitUsage
	case errors.As(err, &terminal.ChangesError{}):
		return exitChanges
	case errors.As(err, &timeout):
		return exitTimeout
	case connect.IsUnreachable(err):
		return exitUnreachable
	}
	return exitFailed
}
