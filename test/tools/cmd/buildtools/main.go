// Command buildtools builds the third-party programs of the tests and of make
// into their cache. Without arguments it builds all of them; what is cached
// already is not built again.
//
//	go run ./tools/cmd/buildtools [name...]
//	go run ./tools/cmd/buildtools --print name
//
// With --print, standard output is the path of that one program and nothing
// else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/signpost-dns/signpost/test/tools"
)

func main() {
	if err := start(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "buildtools:", err)
		os.Exit(1)
	}
}

// start runs until done or interrupted.
func start() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// run does what the arguments ask for.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("buildtools", flag.ContinueOnError)
	flags.SetOutput(stderr)
	printed := flags.String("print", "", "build the program of this `name` if need be and print its path alone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	builder, err := tools.NewBuilder(stderr)
	if err != nil {
		return err
	}
	if *printed != "" {
		if flags.NArg() > 0 {
			return fmt.Errorf("unexpected %q after --print", flags.Args())
		}
		return printPath(ctx, builder, *printed, stdout)
	}
	return buildAll(ctx, builder, flags.Args(), stdout)
}

// printPath prints the path of one program.
func printPath(ctx context.Context, builder *tools.Builder, name string, stdout io.Writer) error {
	tool, err := tools.Find(name)
	if err != nil {
		return err
	}
	path, err := builder.Path(ctx, tool)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}

// buildAll builds the named programs, or all, and prints where each is.
func buildAll(ctx context.Context, builder *tools.Builder, names []string, stdout io.Writer) error {
	wanted, err := choose(names)
	if err != nil {
		return err
	}
	for _, tool := range wanted {
		path, err := builder.Path(ctx, tool)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "%s: %s\n", tool.Name, path); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the named programs, or all where none is named.
func choose(names []string) ([]tools.Tool, error) {
	if len(names) == 0 {
		return tools.All(), nil
	}
	wanted := make([]tools.Tool, 0, len(names))
	for _, name := range names {
		tool, err := tools.Find(name)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, tool)
	}
	return wanted, nil
}
