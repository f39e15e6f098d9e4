// Package observe writes what is seen of one cluster into the store.
package observe

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Observer writes what is seen of one cluster. It has a goroutine of its own,
// so that a slow apply never holds up a changed address.
type Observer struct {
	cluster *state.Cluster
	store   *observed.Store
	writer  *observed.Writer
	lookups *lookup.Lookups
	turns   turns
	heard   map[string]*observed.Answers // the answers of servers that are to be written, as state.Cluster has them
	through state.Published              // which published DNSEndpoints are to be written, likewise
	crowded time.Time                    // until when nothing is forgotten, because contexts moved each time
}

// New makes an Observer that writes into a store. It looks host names of Services
// up by lookups.
func New(of *state.Cluster, store *observed.Store, lookups *lookup.Lookups) *Observer {
	return &Observer{cluster: of, store: store, lookups: lookups, turns: newTurns()}
}

// every is how often the observer looks without being told to.
const every = 30 * time.Second

// Run writes what is seen, until ctx ends or the cluster belongs to another worker.
func (o *Observer) Run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		var wait time.Duration
		err := o.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, observed.ErrLost):
			o.cluster.Logger.WarnContext(ctx, "cluster lost", "error", err)
			return
		case err != nil:
			wait = pace.Backoff(pace.RetryFirst, pace.RetryLongest, failures)
			failures++
			o.cluster.Logger.WarnContext(ctx, "observations not written", "error", err)
		default:
			failures, wait = 0, o.rest()
		}
		select {
		case <-ctx.Done():
		case <-o.cluster.Signals.Observe:
		case <-o.cluster.Clock.After(wait):
		}
	}
}

// Wait waits until no lookup is under way. Run must have ended, and its context.
func (o *Observer) Wait() { o.lookups.Wait() }

// open begins to write, unless that has begun.
func (o *Observer) open(ctx context.Context) (err error) {
	if o.writer == nil {
		o.writer, err = o.store.Writer(ctx, o.cluster.Name, o.cluster.Fence)
	}
	return err
}

// step writes what has changed. Only complete pictures count: what is not
// known stays as it was last seen (I11).
func (o *Observer) step(ctx context.Context) error {
	if err := o.open(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{o.services, o.workloads, o.placements, o.published, o.answers, o.probes, o.reachability} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	now := o.cluster.Clock.Now()
	if now.Before(o.crowded) {
		return nil
	}
	err := o.forget(ctx)
	if errors.Is(err, observed.ErrMoved) {
		o.crowded = now.Add(every)
		return nil
	}
	return err
}

// rest answers how long nothing needs to be written or looked up, unless something happens.
func (o *Observer) rest() time.Duration {
	now, wait := o.cluster.Clock.Now(), every
	if due := o.writer.Due(o.turns.last); !due.IsZero() {
		wait = min(wait, due.Sub(now))
	}
	if len(o.turns.unknown) > 0 {
		wait = min(wait, againEvery)
	}
	if next, some := o.lookups.Next(); some {
		wait = min(wait, max(next.Sub(now), o.turns.again.Add(againEvery).Sub(now)))
	}
	return wait
}

// Finish removes all that was observed of a cluster that nothing is left to
// serve in.
func (o *Observer) Finish(ctx context.Context) error {
	if err := o.open(ctx); err != nil {
		return err
	}
	add(o.turns.left, o.writer.Services())
	for _, forget := range []func(context.Context) error{
		o.forget,
		workloads{stored: o.writer.Deployments(), remove: o.writer.RemoveDeployment}.forget,
		workloads{stored: o.writer.DaemonSets(), remove: o.writer.RemoveDaemonSet}.forget,
		func(ctx context.Context) error { return o.writer.ChangePublished(ctx, nil, map[string]bool{}) },
		func(ctx context.Context) error { return o.writer.SetAnswers(ctx, nil) },
		func(ctx context.Context) error { return o.writer.SetProbes(ctx, nil, o.cluster.Clock.Now()) },
	} {
		if err := forget(ctx); err != nil {
			return err
		}
	}
	if o.cluster.Index.Serves(o.cluster.Name) {
		return nil // somebody came in between: what was seen still counts
	}
	return o.writer.RemoveReachability(ctx)
}

// forget removes what was observed of Services and placements that no context asks for, as of a
// read made for the purpose. A context that has moved since may ask for them again (I11). So
// they are read again then, a few times.
func (o *Observer) forget(ctx context.Context) (err error) {
	const tries = 3
	for range tries {
		if len(o.unasked()) == 0 {
			return nil
		}
		revision, failed := o.cluster.Index.Refresh(ctx)
		if failed != nil {
			return failed
		}
		if err = o.writer.Forget(ctx, o.unasked(), appcontext.NoneMovedSince(revision)); !errors.Is(err, observed.ErrMoved) {
			return err
		}
	}
	return err
}

// published writes which DNSEndpoints the prober saw to be published.
func (o *Observer) published(ctx context.Context) error {
	o.through.Add(o.cluster.TakePublished())
	err := o.writer.ChangePublished(ctx, o.through.Changed, o.through.All)
	if err == nil {
		o.through = state.Published{}
	}
	return err
}

// answers writes what the verifier heard of authoritative servers.
func (o *Observer) answers(ctx context.Context) error {
	if o.heard == nil {
		o.heard = map[string]*observed.Answers{}
	}
	maps.Copy(o.heard, o.cluster.TakeAnswers())
	err := o.writer.ChangeAnswers(ctx, o.heard)
	if err == nil {
		clear(o.heard)
	}
	return err
}

// probes writes what probes of addresses have found.
func (o *Observer) probes(ctx context.Context) error {
	found := o.cluster.Snapshot().Probes
	if found == nil {
		return nil
	}
	return o.writer.SetProbes(ctx, found, o.cluster.Clock.Now().UTC())
}

// reachability writes the last probe's result. A cluster that answers, but of
// which something cannot be watched, says so in its message.
func (o *Observer) reachability(ctx context.Context) error {
	now := o.cluster.Snapshot()
	if now.Health == nil {
		return nil
	}
	health := *now.Health
	if health.Reachable && now.Watches != nil {
		if err := now.Watches.Trouble(); err != nil {
			health.Message = "not everything can be watched: " + err.Error()
		}
	}
	return o.writer.SetReachability(ctx, health)
}
