package cli

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// Main runs the command line of the process, and answers its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, terminal.Program{
		Poll: 500 * time.Millisecond,
		In:   os.Stdin,
		Out:  os.Stdout,
		Err:  os.Stderr,
	}, app.Run, os.Args[1:])
}

// Run executes a command line and answers its exit code. When ctx ends, the
// command ends in good order.
func Run(ctx context.Context, p terminal.Program, service func(context.Context, app.Config) error, args []string) int {
	root := newRoot(p, service)
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
	report(p.Err, command, err)
	return exitCode(err)
}
