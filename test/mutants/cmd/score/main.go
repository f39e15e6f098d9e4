// Command score measures the tests: it builds the product with each mutant in
// turn, and looks for the first test that fails. It writes what it has found into
// a table, after each mutant, and fails if the tests find too few of them. It is
// run in the directory of the module test.
//
//	go run ./mutants/cmd/score              measures all mutants
//	go run ./mutants/cmd/score -resume      measures those that the table has no result of
//	go run ./mutants/cmd/score -run NAME    measures one
//	go run ./mutants/cmd/score -list        prints the names
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/signpost-dns/signpost/test/mutants"
	"github.com/signpost-dns/signpost/test/simulate/bugs"
)

// tableFile is where the table is, seen from the module test.
const tableFile = "mutants/table.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

// run does what the arguments ask for.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("score", flag.ContinueOnError)
	name := flags.String("run", "", "measure the mutant of this `name` alone")
	resume := flags.Bool("resume", false, "keep the results that the table has, but for errors")
	list := flags.Bool("list", false, "print the names of the mutants, and measure nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		for _, mutant := range mutants.All() {
			fmt.Fprintf(out, "%-34s %s\n", mutant.Name, mutant.File)
		}
		return nil
	}
	results := table{}
	if *resume || *name != "" {
		var err error
		if results, err = readTable(tableFile); err != nil {
			return err
		}
	}
	wanted := chosen(mutants.All(), results, *name)
	if len(wanted) == 0 && *name != "" {
		return fmt.Errorf("there is no mutant %q; -list prints the names", *name)
	}
	if err := measure(ctx, wanted, results, out); err != nil {
		return err
	}
	if *name != "" {
		return results[*name].judge()
	}
	return results.judge(out, mutants.All())
}

// chosen are the mutants to measure: the one of the name, or those of which there
// is no result.
func chosen(all []bugs.Bug, results table, name string) []bugs.Bug {
	return slices.DeleteFunc(all, func(mutant bugs.Bug) bool {
		if name != "" {
			return mutant.Name != name
		}
		return results[mutant.Name].known()
	})
}

// measure looks for a test that finds each of the mutants, and keeps the table.
func measure(ctx context.Context, wanted []bugs.Bug, results table, out io.Writer) error {
	if len(wanted) == 0 {
		return nil
	}
	s, err := newSearch(ctx, "..", out)
	if err != nil {
		return err
	}
	for n, mutant := range wanted {
		began := time.Now()
		r := s.find(ctx, mutant)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted; -resume goes on: %w", err)
		}
		results[mutant.Name] = r
		fmt.Fprintf(out, "%d of %d, %3.0f s  %-34s %s\n", n+1, len(wanted), time.Since(began).Seconds(), mutant.Name, r)
		if err := results.write(tableFile, mutants.All()); err != nil {
			return err
		}
	}
	return nil
}
