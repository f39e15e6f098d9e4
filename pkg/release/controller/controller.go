package controller

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/workqueue"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// The controller's rhythm.
const (
	scanEvery   = 10 * time.Second       // all owners are looked at, if the store of documents does not tell of changes
	resyncIn    = 30 * time.Minute       // each owner is looked at once, if it does and there are not very many
	resyncMost  = 100                    // owners that are looked at so in scanEvery: at rest, a server works no more for very many
	followEvery = 2 * time.Second        // failovers that have not ended are looked at
	waitFirst   = 50 * time.Millisecond  // before an unsettled owner is looked at again, doubling
	waitMost    = 2 * time.Second        // at most so long, unless very many are unsettled
	stepLimit   = 30 * time.Second       // a step that takes longer is given up and repeated
	workers     = 8                      // owners that are stepped at once: enough to keep up with as many clients that publish names
	sweepAfter  = 10 * time.Minute       // contexts that crashed writers left are removed then
	foldEvery   = 150 * time.Millisecond // a Service's DNSEndpoints are changed at most so often
)

// Controller executes the steps of all owners. Owners are due when their documents change, by a request to any
// replica or by a step. They are also due when their Services were observed to change, when an orchestrator has
// changed them, and while they are not settled. Now and then each is due, in case that nobody has told of a change.
// If all replicas hear of a change, the one steps that has the owner in its share. An owner that a request or a step
// in this process asks for is stepped here.
type Controller struct {
	service *Worker
	queue   workqueue.TypedDelayingInterface[work]
	order   *queue // of the queue's work
	again   *again
	pace    *pace
	resync  resync
	share   share
	metrics *metrics

	failovers chan struct{} // a failover has begun, or somebody has noted how far it is
}

// work is what is done at once: a step of an owner, or of the names of one of
// its Services.
type work struct {
	owner   intent.Path
	service string // "namespace/name"; empty: all
}

// NewController makes a controller over a Service.
func NewController(service *Worker) *Controller {
	metrics := newMetrics(service.Metrics)
	order := newQueue()
	queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[work]{
		Name: "controller", MetricsProvider: metrics,
		Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[work]{Name: "controller", MetricsProvider: metrics, Queue: order}),
	})
	again := newAgain(func(todo work, often bool) {
		if often {
			order.place(todo, goesLast)
		}
		queue.Add(todo)
	})
	return &Controller{service: service, queue: queue, order: order, again: again, pace: newPace(), share: share{replicas: service.Replicas}, metrics: metrics, failovers: make(chan struct{}, 1)}
}

// Run works until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error { c.work(ctx); return nil })
	}
	c.service.Wakeups.Listen(c.wake)
	g.Go(func() error { c.keepReceiving(ctx); return nil })
	g.Go(func() error { c.keepLooking(ctx); return nil })
	g.Go(func() error { c.keepShare(ctx); return nil })
	g.Go(func() error { c.keepWatching(ctx); return nil })
	g.Go(func() error { c.followFailovers(ctx); return nil })
	g.Go(func() error { c.watchOrchestrated(ctx); return nil })
	context.AfterFunc(ctx, c.queue.ShutDown)
	return g.Wait()
}

// wake puts owners into the queue that a request or a step asks for. The names of several read together. A single owner
// comes at its time.
func (c *Controller) wake(n state.Wakeup) {
	if len(n.Owners) > 1 {
		for _, owner := range n.Owners {
			c.again.forget(work{owner: owner}) // work that is not settled comes when it would, and before those that are looked at
		}
		c.lookAt(n.Owners, false)
		return
	}
	todo := work{owner: n.Owners[0]}
	c.resync.told(todo.owner)
	if n.At.IsZero() {
		c.again.anew(todo)
	}
	if n.First {
		c.order.place(todo, goesFirst)
	}
	c.queue.AddAfter(todo, max(0, n.At.Sub(c.service.Now())))
}

// followFailovers looks again and again how far failovers are, while there are any. A
// document tells when one begins.
func (c *Controller) followFailovers(ctx context.Context) {
	for {
		open, err := c.service.Failovers.Follow(ctx)
		if err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "failovers cannot be followed", "error", err)
		}
		begun, wait := c.failovers, resyncIn
		if open || err != nil || c.service.Watch == nil {
			begun, wait = nil, followEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-begun:
		case <-time.After(wait):
		}
	}
}

// failoverBegun has failovers looked at. It does not block.
func (c *Controller) failoverBegun() {
	select {
	case c.failovers <- struct{}{}:
	default:
	}
}

func (c *Controller) work(ctx context.Context) {
	for {
		todo, stop := c.queue.Get()
		if stop {
			return
		}
		if rest := c.pace.rest(todo, time.Now()); rest > 0 {
			c.queue.AddAfter(todo, rest) // what comes until then is joined
		} else if settled, err := c.do(ctx, todo); settled && err == nil {
			c.again.anew(todo)
		} else {
			c.log(ctx, todo.owner, err)
			c.again.unsettled(todo)
		}
		c.order.done(todo)
		c.queue.Done(todo)
		c.seeThrough()
	}
}

func (c *Controller) do(ctx context.Context, todo work) (settled bool, err error) {
	defer func(began time.Time) { c.metrics.stepped(todo, began, settled, err) }(time.Now())
	ctx, cancel := context.WithTimeout(todo.trail(ctx), stepLimit)
	defer cancel()
	switch {
	case todo.service != "":
		return true, c.reconcileService(ctx, todo)
	case state.IsRecord(todo.owner):
		return true, c.service.Providers.StepRecord(ctx, todo.owner)
	}
	if _, asked := c.resync.turnOf(todo.owner); asked && c.resync.starts() {
		c.order.awaitProviders(ctx, todo) // they wake all of their users, of which each would be stepped once more
	}
	ctx, end := c.resync.compare(ctx, c, todo.owner)
	defer end()
	return c.service.Reconciler.StepGroup(ctx, todo.owner)
}

// reconcileService follows one Service of an owner, or leaves it to a step of all.
func (c *Controller) reconcileService(ctx context.Context, todo work) error {
	fold, err := c.service.Renderer.ReconcileService(ctx, todo.owner, todo.service)
	if err != nil {
		return err
	}
	if fold.Wrote || fold.Whole {
		c.pace.did(todo, time.Now())
	}
	if fold.Whole {
		c.due(work{owner: todo.owner})
	}
	if !fold.Due.IsZero() {
		c.queue.AddAfter(todo, max(0, fold.Due.Sub(c.service.Now())))
	}
	return nil
}

// log tells of a failed step, if it failed. Lost races are everyday business.
func (c *Controller) log(ctx context.Context, owner intent.Path, err error) {
	switch {
	case err == nil || ctx.Err() != nil:
		return
	case intent.CodeOf(err) == appcontext.ErrStale:
		c.service.Logger.DebugContext(ctx, "a step lost a race and is repeated", "owner", owner)
		return
	}
	c.service.Logger.WarnContext(ctx, "a step failed and is repeated", "owner", owner, "error", err)
}
