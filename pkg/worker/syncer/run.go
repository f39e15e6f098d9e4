package syncer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// run steps until ctx ends, the cluster belongs to another worker, or there is
// nothing left to serve.
func (t *clusterWorker) run(parent context.Context, o *observer, e *prober, p *verifier) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { t.look(ctx, o); cancel(); o.lookups.Wait() })
	group.Go(func() { t.probePods(ctx, e) })
	group.Go(func() { t.verifyNames(ctx, p) })
	t.act(ctx)
	cancel()
	t.disconnect()
	group.Wait()
	if t.unused && parent.Err() == nil {
		if err := o.finish(parent); err != nil {
			t.logger.WarnContext(parent, "observations not removed", "error", err)
		}
	}
}

// act steps towards what is wanted.
func (t *clusterWorker) act(ctx context.Context) {
	for failures := 0; ; {
		wait, err := t.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ledger.ErrLost):
			t.logger.WarnContext(ctx, "cluster lost", "error", err)
			return
		case err != nil:
			wait = pace.Backoff(pace.RetryFirst, pace.RetryLongest, failures)
			failures++
			t.settledAt.Store(-1)
			t.logger.WarnContext(ctx, "step failed", "error", err)
		case t.unused:
			t.logger.InfoContext(ctx, "cluster has nothing left to serve")
			return
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wakeStep:
		case <-t.clock.After(wait):
		}
	}
}

// lookEvery is how often the observer looks without being told to.
const lookEvery = 30 * time.Second

// look writes what is seen.
func (t *clusterWorker) look(ctx context.Context, o *observer) {
	for failures := 0; ctx.Err() == nil; {
		var wait time.Duration
		err := o.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, observed.ErrLost):
			t.logger.WarnContext(ctx, "cluster lost", "error", err)
			return
		case err != nil:
			wait = pace.Backoff(pace.RetryFirst, pace.RetryLongest, failures)
			failures++
			t.logger.WarnContext(ctx, "observations not written", "error", err)
		default:
			failures, wait = 0, o.rest()
		}
		select {
		case <-ctx.Done():
		case <-t.wakeLook:
		case <-t.clock.After(wait):
		}
	}
}
