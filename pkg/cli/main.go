package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// Main runs the command line of the process, and answers its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, terminal.Program{
		Name: calledAs(os.Args[0]),
		Poll: 500 * time.Millisecond,
		In:   os.Stdin,
		Out:  os.Stdout,
		Err:  os.Stderr,
	}, app.Run, os.Args[1:])
}

// calledAs returns the name by which the user calls the program that has this path:
// kubectl runs kubectl-signpost for "kubectl signpost".
func calledAs(path string) string {
	if strings.TrimSuffix(filepath.Base(path), ".exe") == "kubectl-signpost" {
		return "kubectl signpost"
	}
	return "signpost"
}

// Run executes a command line and answers its exit code. When ctx ends, the
// command ends in good order.
func Run(ctx context.Context, p terminal.Program, service func(context.Context, app.Config) error, args []string) int {
	root := Command(p, service)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if command == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // its flags are nobody's, too
		err = unknownCommand(root, args[0])
	}
	if !errors.As(err, &terminal.ChangesError{}) { // the plan has told them
		report(p.Err, command, err)
	}
	return exitCode(err)
}

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
