// Command signpost is the service and its command-line client in one binary:
// `signpost serve` runs the service, every other command talks to one.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/signpost-dns/signpost/pkg/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := program{
		serve: app.Run,
		poll:  500 * time.Millisecond,
		in:    os.Stdin,
		out:   os.Stdout,
		err:   os.Stderr,
	}.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is what the commands need of the world outside.
type program struct {
	serve func(context.Context, app.Config) error // runs the service until the context ends
	poll  time.Duration                           // between two looks at a status
	in    io.Reader
	out   io.Writer
	err   io.Writer
}

// run executes the command line and answers the exit code. When ctx ends, the
// command ends in good order.
func (p program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if command == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // its flags are nobody's, too
		err = unknownCommand(root, args[0])
	}
	report(p.err, command, err)
	return exitCode(err)
}
