// Package syncer is the worker that brings clusters to what the current app
// contexts hold, and keeps them there.
//
// Each cluster is served by one worker at a time, which owns it by an etcd key under its
// lease. It has goroutines of its own, so that a hung or dead cluster delays no other
// (I7). Package state has what these share, link the connection, and apply or rsync the
// steps.
package syncer

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/addressprobe"
	"github.com/signpost-dns/signpost/pkg/worker/apply"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/link"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
	"github.com/signpost-dns/signpost/pkg/worker/metrics"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
	"github.com/signpost-dns/signpost/pkg/worker/verify"
)

// Contexts is what the worker asks of the app contexts.
type Contexts interface {
	index.Contexts
	state.Contexts

	// Watch delivers what changes of pointers and their contexts from a revision
	// on (inclusive).
	Watch(ctx context.Context, from int64) <-chan appcontext.Change
}

// Connections is how the worker gets at clusters.
type Connections interface {
	link.Connections

	// Changed names clusters whose settings have changed: they are connected
	// to anew.
	Changed() <-chan string
}

// Options are what a Worker needs. KV, Contexts, Connections and Installation
// must be set.
type Options struct {
	KV           kv.KV
	Contexts     Contexts
	Connections  Connections
	Installation string
	Rsync        *handover.Store // puts objects into the clusters, in place of the worker; nil: the worker does

	// MayUse says which namespaces that somebody else made owners may use. nil: all.
	MayUse apply.MayUse

	Verifier verify.Verifier       // has published names verified; nil: they are not
	Vantage  *addressprobe.Vantage // probes published addresses; nil: they are not probed
	Resolver lookup.Resolver       // of the host names that Services offer; default: the system's
	Member   string                // names this worker among the replicas; default: random
	Clock    pace.Clock
	Random   func() float64 // in [0,1), for jitter
	Logger   *slog.Logger
	Tracer   *tracing.Tracer // nil: traces are passed on, and none are recorded
	Metrics  prometheus.Registerer
}

// Worker serves clusters.
type Worker struct {
	options  Options
	ledger   *ledger.Ledger
	observed *observed.Store
	metrics  *metrics.Worker

	mu      sync.Mutex
	session *leaseSession // the current one, nil between lease sessions
}

// New makes a Worker, which does nothing until Run.
func New(options Options) *Worker {
	if options.Member == "" {
		options.Member = rand.Text()
	}
	if options.Resolver == nil {
		options.Resolver = net.DefaultResolver
	}
	if options.Clock == nil {
		options.Clock = pace.Wall{}
	}
	if options.Random == nil {
		options.Random = mathrand.Float64
	}
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	return &Worker{
		options:  options,
		ledger:   ledger.New(options.KV),
		observed: observed.New(options.KV),
		metrics:  metrics.New(options.Metrics),
	}
}

// Run serves clusters until ctx ends; then it releases them and answers nil. Losing the
// lease, or the store, makes it begin again.
func (w *Worker) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; failures++ {
		began := w.options.Clock.Now()
		why := w.serve(ctx)
		if w.options.Clock.Now().Sub(began) > time.Minute {
			failures = 0
		}
		w.pause(ctx, why, failures)
	}
	return nil
}

func (w *Worker) pause(ctx context.Context, why error, failures int) {
	if ctx.Err() != nil {
		return
	}
	w.options.Logger.WarnContext(ctx, "worker starts again", "error", why)
	select {
	case <-w.options.Clock.After(pace.Backoff(pace.RetryFirst, pace.RetryLongest, failures)):
	case <-ctx.Done():
	}
}

// serve runs one lease session: the life of one lease.
func (w *Worker) serve(parent context.Context) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	t, err := newLeaseSession(ctx, w)
	if err != nil {
		return err
	}
	w.become(t)
	err = t.run(ctx)
	w.become(nil)
	cancel()
	t.end(ctx)
	return err
}

func (w *Worker) become(t *leaseSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = t
}

// Idle tells whether this worker serves, and has nothing left to do in any
// cluster that is its own, as far as it knows.
func (w *Worker) Idle() bool {
	w.mu.Lock()
	t := w.session
	w.mu.Unlock()
	return t != nil && t.idle()
}

// Loading tells whether there are clusters of this worker that it has not begun to serve: how many it
// serves, of how many.
func (w *Worker) Loading() (done, total int, loading bool) {
	w.mu.Lock()
	t := w.session
	w.mu.Unlock()
	if t == nil {
		return 0, 0, true
	}
	done, total = t.loaded()
	return done, total, done < total
}
