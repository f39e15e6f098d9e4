// Command buildtools builds the third-party programs of the tests and of make
// into their cache, in the order in which tests want them. Without arguments it
// builds all of them; what is cached already is not built again.
//
//	go run ./tools/cmd/buildtools [name...]
//	go run ./tools/cmd/buildtools --print name
//	go run ./tools/cmd/buildtools --missing [name...]
//
// With --print, standard output is the path of that one program and nothing
// else. With --missing, it has the names of those that are not built yet, and
// nothing is built.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

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
	missing := flags.Bool("missing", false, "build nothing, and print the names of the programs that are not built yet")
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
	if *missing {
		return printMissing(ctx, builder, flags.Args(), stdout)
	}
	return buildAll(ctx, builder, flags.Args(), stdout)
}

// printMissing prints the names of the programs that are not built yet, of those
// that are named or of all.
func printMissing(ctx context.Context, builder *tools.Builder, names []string, stdout io.Writer) error {
	wanted, err := choose(names)
	if err != nil {
		return err
	}
	for _, tool := range wanted {
		built, err := builder.Built(ctx, tool)
		if err != nil {
			return err
		}
		if !built {
			if _, err := fmt.Fprintln(stdout, tool.Name); err != nil {
				return err
			}
		}
	}
	return nil
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
	paths := make([]string, len(wanted))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce(runtime.NumCPU()))
	for i, tool := range wanted {
		group.Go(func() (err error) {
			paths[i], err = builder.Path(ctx, tool)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, tool := range wanted {
		if _, err := fmt.Fprintf(stdout, "%s: %s\n", tool.Name, paths[i]); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many programs are built at the same time. The compiler keeps
// two processors busy by itself (1.9 of them when this was measured), and two
// builds at the same time compile the packages twice that they have in common.
func atOnce(processors int) int {
	const each = 4 // processors for one build
	return max(1, processors/each)
}

// choose returns the named programs, or all if none is named, in the order in
// which they are wanted.
func choose(names []string) ([]tools.Tool, error) {
	for _, name := range names {
		if _, err := tools.Find(name); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(tools.All(), func(tool tools.Tool) bool {
		return len(names) > 0 && !slices.Contains(names, tool.Name)
	}), nil
}
