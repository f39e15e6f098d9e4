package syncer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/addressprobe"
	"github.com/signpost-dns/signpost/pkg/worker/link"
	"github.com/signpost-dns/signpost/pkg/worker/observe"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/probe"
	"github.com/signpost-dns/signpost/pkg/worker/rsync"
	"github.com/signpost-dns/signpost/pkg/worker/state"
	"github.com/signpost-dns/signpost/pkg/worker/verify"
)

// clusterWorker is one worker's ownership of one cluster, from taking over to releasing
// it. Five goroutines share its state: one steps towards what is wanted, one observes,
// one probes external-dns and nameservers, one verifies, and one has addresses probed.
type clusterWorker struct {
	*state.Picture
	link      *link.Link
	executor  executor
	rsync     *rsync.Handovers // the executor; nil: this worker writes to the cluster itself
	observer  *observe.Observer
	prober    *probe.Prober
	verifier  *verify.Names
	addresses *addressprobe.Prober

	loaded bool
	unused bool        // the last step found nothing left to serve
	began  atomic.Bool // there was a step: what is wanted and what is there have been compared, or the cluster does not answer

	settledAt atomic.Int64 // the index's count of moves up to which nothing is left to do, -1 for none
}

// executor brings one cluster to what is wanted.
type executor interface {
	// Load reads what the executor has to know before the first step.
	Load(ctx context.Context) error

	// Empty tells whether nothing is left of what the executor did, but what the
	// ledger says.
	Empty() bool

	// Step brings the cluster one step nearer to what is wanted. It answers when
	// the next step is due at the latest, and whether nothing is left to do. An
	// error is the store's, or ledger.ErrLost; a cluster that cannot be reached is
	// none.
	Step(ctx context.Context) (wait time.Duration, settled bool, err error)
}

// run steps until ctx ends, the cluster belongs to another worker, or there is
// nothing left to serve.
func (t *clusterWorker) run(parent context.Context) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { t.observer.Run(ctx); cancel(); t.observer.Wait() })
	group.Go(func() { t.prober.Run(ctx) })
	group.Go(func() { t.verifier.Run(ctx) })
	group.Go(func() { t.addresses.Run(ctx) })
	t.act(ctx)
	cancel()
	t.link.Disconnect()
	group.Wait()
	if t.unused && parent.Err() == nil {
		if err := t.observer.Finish(parent); err != nil {
			t.Logger.WarnContext(parent, "observations not removed", "error", err)
		}
	}
}

// act steps towards what is wanted.
func (t *clusterWorker) act(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; { // also if something else woke the worker as it ended
		wait, err := t.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ledger.ErrLost):
			t.Logger.WarnContext(ctx, "cluster lost", "error", err)
			return
		case err != nil:
			wait = pace.Backoff(pace.RetryFirst, pace.RetryLongest, failures)
			failures++
			t.settledAt.Store(-1)
			t.Logger.WarnContext(ctx, "step failed", "error", err)
		case t.unused:
			t.Logger.InfoContext(ctx, "cluster has nothing left to serve")
			return
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-t.Signals.Step:
		case <-t.Clock.After(wait):
		}
	}
}

// step brings the cluster one step nearer to what is wanted, and answers when
// the next one is due at the latest.
func (t *clusterWorker) step(ctx context.Context) (time.Duration, error) {
	moves := t.Index.Moved(t.Name)
	if err := t.load(ctx); err != nil {
		return 0, err
	}
	if t.empty() {
		t.unused = true
		return 0, nil
	}
	if !t.Index.Serves(t.Name) {
		t.Signals.Observe.Wake() // what was observed is forgotten, although the worker does not end yet
	}
	if err := t.Desired.Load(ctx, t.Ledger.Entries()); err != nil {
		return 0, err
	}
	wait, settled, err := t.executor.Step(ctx)
	if err != nil {
		return 0, err
	}
	if !settled {
		moves = -1
	}
	t.settledAt.Store(moves)
	t.began.Store(true)
	return wait, nil
}

// load reads what was done in the cluster before, once.
func (t *clusterWorker) load(ctx context.Context) error {
	if t.loaded {
		return nil
	}
	if err := t.Ledger.Load(ctx); err != nil {
		return err
	}
	if err := t.executor.Load(ctx); err != nil {
		return err
	}
	t.loaded = true
	return nil
}

// empty tells whether there is nothing to serve.
func (t *clusterWorker) empty() bool {
	return t.Ledger.Empty() && t.executor.Empty() && !t.Index.Serves(t.Name)
}

// isSettled tells whether nothing is left to do, as far as is known.
func (t *clusterWorker) isSettled() bool { return t.settledAt.Load() == t.Index.Moved(t.Name) }
