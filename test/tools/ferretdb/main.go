// Command ferretdb serves the MongoDB wire protocol over SQLite files, so that
// tests have a document database which is one process without a dependency.
//
// It listens on one TCP address (--listen), keeps every database as a file in
// one directory (--state-dir) and serves until it is told to stop. A process
// that is killed loses nothing it has acknowledged: start it again on the same
// directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if err := start(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ferretdb:", err)
		os.Exit(1)
	}
}

// start serves until the process is told to stop.
func start() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:])
}

// run serves until ctx is cancelled.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("ferretdb", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:27017", "TCP address to serve the MongoDB wire protocol on")
	stateDir := flags.String("state-dir", "", "directory of the SQLite files; made if it is not there (required)")
	verbose := flags.Bool("verbose", false, "log every command instead of warnings alone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *stateDir == "" {
		return errors.New("--state-dir is required")
	}
	location, err := sqliteURL(*stateDir)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if *verbose {
		level = slog.LevelDebug
	}
	// The embedded form never starts the telemetry reporter.
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: *listen},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
		Handler:   "sqlite",
		SQLiteURL: location,
	})
	if err != nil {
		return err
	}
	go func() { fmt.Println("listening on", server.MongoDBURI()) }()
	return server.Run(ctx)
}

// sqliteURL makes the directory and returns it as FerretDB wants it: a file
// URI which ends in a slash. With synchronous(normal) a commit survives the
// death of the process, though not that of the machine, and tests are faster.
func sqliteURL(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return "", fmt.Errorf("make state directory: %w", err)
	}
	query := url.Values{"_pragma": {"synchronous(normal)"}}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs) + "/", RawQuery: query.Encode()}).String(), nil
}
