package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/contextupdate"
)

// listeners are the open sockets of the server.
type listeners struct{ http, grpc net.Listener }

func listen(c Config) (*listeners, error) {
	var l listeners
	var err error
	if l.http, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if l.grpc, err = net.Listen("tcp", c.GRPCListen); err != nil {
		return nil, errors.Join(fmt.Errorf("--grpc-listen: %w", err), l.http.Close())
	}
	return &l, nil
}

// close closes what serving has not closed already.
func (l *listeners) close() {
	_ = l.http.Close()
	_ = l.grpc.Close()
}

// announce writes the addresses to the ready file, whole or not at all.
func (l *listeners) announce(file string) error {
	if file == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"http": l.http.Addr().String(), "grpc": l.grpc.Addr().String()})
	if err != nil {
		return err
	}
	draft := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".draft")
	if err := os.WriteFile(draft, raw, 0o644); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return os.Rename(draft, file)
}

// edge is what the outside talks to.
type edge struct {
	http   *http.Server
	grpc   *grpc.Server
	health *health.Server
	drain  time.Duration // how long requests may go on after the end was asked for
}

func newEdge(c Config, options api.Options, contexts contextupdate.Contexts) (*edge, error) {
	if c.TokenFile != "" {
		tokens, err := api.LoadTokens(c.TokenFile, options.Log)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		options.Tokens = tokens
	}
	handler, err := api.New(options)
	if err != nil {
		return nil, err
	}
	e := &edge{http: api.NewServer(handler), health: health.NewServer(), drain: drainTimeout}
	e.grpc, err = newGRPC(c, options, contexts, e.health)
	return e, err
}

// drainTimeout is the edge's usual drain.
const drainTimeout = 10 * time.Second

// serve answers requests until ctx ends, then lets those under way finish.
// Those that take too long are cut off, which is no error: the clients cannot
// know what became of them.
func (e *edge) serve(ctx context.Context, l *listeners) error {
	failed := make(chan error, 2)
	go func() { failed <- e.http.Serve(l.http) }()
	go func() { failed <- e.grpc.Serve(l.grpc) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	e.health.Shutdown()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.drain)
	defer cancel()
	// A stream, as of a client that watches our health, may never end by itself.
	defer context.AfterFunc(ending, e.grpc.Stop)()
	err := e.http.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.http.Close()
	}
	e.grpc.GracefulStop()
	return err
}
