package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/contextupdate"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
)

// listeners are the open sockets of the server. A worker has none for gRPC, and
// one for profiles is there where it is asked for.
type listeners struct{ http, grpc, pprof net.Listener }

func listen(c Config) (*listeners, error) {
	var l listeners
	var err error
	if l.http, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if c.PprofListen != "" {
		if l.pprof, err = net.Listen("tcp", c.PprofListen); err != nil {
			l.close()
			return nil, fmt.Errorf("--pprof-listen: %w", err)
		}
		l.pprof = netutil.LimitListener(l.pprof, maxProfiling)
	}
	if !c.accepts() {
		return &l, nil
	}
	if l.grpc, err = net.Listen("tcp", c.GRPCListen); err != nil {
		l.close()
		return nil, fmt.Errorf("--grpc-listen: %w", err)
	}
	return &l, nil
}

// close closes what serving has not closed already.
func (l *listeners) close() {
	for _, one := range []net.Listener{l.http, l.grpc, l.pprof} {
		if one != nil {
			_ = one.Close()
		}
	}
}

// addresses are those of the listeners, by name.
func (l *listeners) addresses() map[string]string {
	where := map[string]string{"http": l.http.Addr().String()}
	if l.grpc != nil {
		where["grpc"] = l.grpc.Addr().String()
	}
	if l.pprof != nil {
		where["pprof"] = l.pprof.Addr().String()
	}
	return where
}

// announce writes the addresses to the ready file, whole or not at all.
func (l *listeners) announce(file string) error {
	if file == "" {
		return nil
	}
	raw, err := json.Marshal(l.addresses())
	if err != nil {
		return err
	}
	draft := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".draft")
	if err := os.WriteFile(draft, raw, 0o644); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return os.Rename(draft, file)
}

// edge is what the outside talks to. A worker's answers probes alone, and no gRPC.
type edge struct {
	http   *http.Server
	grpc   *grpc.Server
	health *health.Server
	drain  time.Duration // how long requests may go on after the end was asked for

	ofHTTP, ofGRPC *throttle.Connections
}

// openEdge makes the edge, with authenticators that let in whom the configuration says.
func openEdge(ctx context.Context, c Config, options api.Options, contexts contextupdate.Contexts) (*edge, error) {
	rest, grpc, err := openAuthenticators(ctx, c, options.Metrics, options.Log)
	if err != nil {
		return nil, err
	}
	options.Authenticator = rest
	return newEdge(c, options, grpc, contexts)
}

func newEdge(c Config, options api.Options, grpcAuthenticator *access.Authenticator, contexts contextupdate.Contexts) (*edge, error) {
	e := &edge{grpc: grpc.NewServer(), health: health.NewServer(), drain: drainTimeout}
	if err := e.bound(c.maxConnections(), options.Metrics); err != nil {
		return nil, err
	}
	options.Connections = e.ofHTTP
	if !c.accepts() {
		handler, err := api.NewProbes(options)
		if err != nil {
			return nil, err
		}
		e.http, err = c.httpServer(handler, options.Metrics, options.Log)
		return e, err
	}
	options.Buckets = c.buckets()
	pages, err := openConsole(c)
	if err != nil {
		return nil, err
	}
	handler, err := api.New(options, pages)
	if err != nil {
		return nil, err
	}
	if e.http, err = c.httpServer(handler, options.Metrics, options.Log); err != nil {
		return nil, err
	}
	options.Connections = e.ofGRPC
	e.grpc, err = newGRPC(c, options, grpcAuthenticator, contexts, e.health)
	return e, err
}

// httpServer is the server of the HTTP listener. Clients that hang up, or cannot
// speak TLS, are told of at debug level.
func (c Config) httpServer(handler http.Handler, metrics prometheus.Registerer, log *slog.Logger) (*http.Server, error) {
	server := api.NewServer(handler)
	told, err := newHandshakes("rest", metrics, log)
	if err != nil {
		return nil, err
	}
	server.ErrorLog = slog.NewLogLogger(told.ofHTTP(), slog.LevelDebug)
	server.TLSConfig, err = c.restTLS().Config(log)
	return server, err
}

// drainTimeout is the edge's usual drain.
const drainTimeout = 10 * time.Second

// serve answers requests until ctx ends, then lets running requests finish. Requests that
// take too long are cut off, which is no error: the clients cannot know their outcome.
func (e *edge) serve(ctx context.Context, l *listeners) error {
	failed := make(chan error, 2)
	go func() { failed <- e.serveHTTP(l.http) }()
	if l.grpc != nil {
		go func() { failed <- e.grpc.Serve(e.ofGRPC.Limit(l.grpc)) }()
	}
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

// serveHTTP serves with TLS where there are files for it.
func (e *edge) serveHTTP(l net.Listener) error {
	l = e.ofHTTP.Limit(l)
	if e.http.TLSConfig == nil {
		return e.http.Serve(l)
	}
	return e.http.ServeTLS(l, "", "")
}
