package controller

import (
	"context"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// resync goes round all owners, a few at a time, in case that nobody has told of a
// change. It counts the changes that it finds.
type resync struct {
	mu     sync.Mutex
	owners int                  // at the last look at all of them
	mine   int                  // of them this replica's
	begun  bool                 // there was such a look
	looked bool                 // all owners of a look at all of them have had their turn
	missed bool                 // that look failed
	next   string               // where the next look begins
	asked  map[intent.Path]bool // owners that nobody but the round has asked for
}

// keepLooking looks at all owners at once, and then at times.
func (c *Controller) keepLooking(ctx context.Context) {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	look := c.scan
	for {
		changed, err := c.service.Renderer.NoteFrozen(ctx)
		if err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "the reachability of clusters cannot be read", "error", err)
		}
		if changed {
			look = c.scan
		}
		look(ctx)
		c.sweep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c.service.Watch != nil {
			look = c.lookOn
		}
	}
}

// sweep ends what nobody else does.
func (c *Controller) sweep(ctx context.Context) {
	if err := c.service.Clusters.LiftAbandoned(ctx); err != nil {
		c.service.Logger.WarnContext(ctx, "abandoned clusters cannot be swept", "error", err)
	}
	if err := c.service.Contexts.Sweep(ctx, sweepAfter); err != nil {
		c.service.Logger.WarnContext(ctx, "old app contexts cannot be swept", "error", err)
	}
}

// scan puts all owners of this replica's share into the queue. Names choose by the labels that clusters have from now on:
// nobody wakes them again for a change before. If the store does not answer, the next turn of the
// round does so.
func (c *Controller) scan(ctx context.Context) {
	c.service.Inputs.ForgetClusters()
	page, err := c.service.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection})
	if err != nil {
		c.resync.miss()
		c.service.Logger.WarnContext(ctx, "owners cannot be listed", "error", err)
		return
	}
	mine := 0
	for _, records := range []bool{true, false} { // records wake their users, which then wait in the queue already
		for _, doc := range page.Items {
			if owner := state.OwnerOf(doc.Path); state.IsRecord(owner) == records && c.share.has(owner) {
				c.queue.Add(work{owner: owner})
				mine++
			}
		}
	}
	c.resync.begin(len(page.Items), mine)
	c.seeThrough()
}

// seeThrough notes when all owners of a look have had their turn.
func (c *Controller) seeThrough() {
	if c.queue.Len() == 0 {
		c.resync.through()
	}
}

// lookOn puts the next owners of the round into the queue: so many that each has its turn
// in half an hour.
func (c *Controller) lookOn(ctx context.Context) {
	limit, after, missed := c.resync.turn()
	if missed {
		c.scan(ctx)
		return
	}
	page, err := c.service.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection, Limit: limit, After: after})
	if err != nil {
		c.service.Logger.WarnContext(ctx, "owners cannot be listed", "error", err)
		return
	}
	for _, doc := range page.Items {
		if owner := state.OwnerOf(doc.Path); c.share.has(owner) {
			c.resync.ask(owner)
			c.queue.Add(work{owner: owner})
		}
	}
	c.resync.went(page)
}

// begin notes how many owners there are, and how many of them are this replica's.
func (r *resync) begin(owners, mine int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners, r.mine, r.next, r.missed, r.begun = owners, mine, "", false, true
}

// through notes that nobody is due any more.
func (r *resync) through() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = r.looked || r.begun
}

// Looking tells whether the first look at all owners goes on: how many have had their turn, of how
// many. It is for people: an owner that is due again counts as one that has not had its turn.
func (c *Controller) Looking() (done, total int, looking bool) {
	c.resync.mu.Lock()
	defer c.resync.mu.Unlock()
	total = c.resync.mine
	return max(0, total-c.queue.Len()), total, !c.resync.looked
}

// miss notes that a look at all owners failed.
func (r *resync) miss() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = true
}

// turn is how many owners have their turn now, and behind which. Missed says that all have.
func (r *resync) turn() (limit int, after string, missed bool) {
	const turns = int(resyncIn / scanEvery)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owners/turns + 1, r.next, r.missed
}

// went notes where a turn ended.
func (r *resync) went(page intent.Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next = ""; page.Continue != "" {
		_, r.next = page.Items[len(page.Items)-1].Path.Split()
	}
}

func (r *resync) ask(owner intent.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[intent.Path]bool{}
	}
	r.asked[owner] = true
}

// told notes that an owner is due for a reason: what its step does is nothing that the
// round has found.
func (r *resync) told(owner intent.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, owner)
}

// compare counts, when the step of an owner that only the round has asked for ends,
// whether the step has changed something.
func (r *resync) compare(ctx context.Context, c *Controller, owner intent.Path) (end func()) {
	r.mu.Lock()
	asked := r.asked[owner]
	r.mu.Unlock()
	if !asked {
		return func() {}
	}
	before, errBefore := c.stamp(ctx, owner)
	return func() {
		after, errAfter := c.stamp(ctx, owner)
		r.mu.Lock()
		still := r.asked[owner]
		delete(r.asked, owner)
		r.mu.Unlock()
		if still && errBefore == nil && errAfter == nil && before != after {
			c.metrics.found.Inc()
			c.service.Logger.WarnContext(ctx, "nobody had told of a change that was found", "owner", owner)
		}
	}
}

// stamp is another one after each change of an owner's state.
type stamp struct{ lifecycle, pointer int64 }

func (c *Controller) stamp(ctx context.Context, owner intent.Path) (stamp, error) {
	l, err := c.service.StoredLifecycle(ctx, owner)
	if err != nil {
		return stamp{}, err
	}
	pointer, err := c.service.Contexts.Current(ctx, state.GroupOwner(owner))
	return stamp{l.Revision, pointer.Revision()}, err
}
