package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Bounds of what the round reads for several names.
const (
	readAtOnce = 64              // names
	readLasts  = 2 * time.Second // the steps that begin later read for themselves
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
	asked  map[intent.Path]view // owners that nobody but the round has asked for
}

// view is what the steps of some names read, as the round has read it for all of them.
type view struct {
	*snapshot.View           // nil: each step reads for itself
	until          time.Time // later steps read for themselves
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
	c.resync.forget()
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
	var names []intent.Document
	for _, doc := range page.Items {
		switch owner := state.OwnerOf(doc.Path); {
		case !c.share.has(owner):
		case intent.IsName(owner):
			names = append(names, doc)
		default:
			c.resync.ask(owner)
			c.queue.Add(work{owner: owner})
		}
	}
	c.resync.went(page)
	pause := scanEvery / time.Duration(len(names)/readAtOnce+1)
	for n, together := range slices.Collect(slices.Chunk(names, readAtOnce)) {
		if n > 0 && !sleep(ctx, pause) { // many names are no burst of work
			return
		}
		c.lookTogether(ctx, together)
	}
}

// sleep waits, and tells whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// lookTogether puts names into the queue that read together. They are asked for first: who is told of a change after
// that reads for itself.
func (c *Controller) lookTogether(ctx context.Context, names []intent.Document) {
	for _, doc := range names {
		c.resync.ask(state.OwnerOf(doc.Path))
	}
	read := view{c.service.Reconciler.ReadTogether(ctx, names), time.Now().Add(readLasts)}
	for _, doc := range names {
		owner := state.OwnerOf(doc.Path)
		c.resync.give(owner, read)
		c.queue.Add(work{owner: owner})
	}
}

// begin notes how many owners there are, and how many of them are this replica's.
func (r *resync) begin(owners, mine int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners, r.mine, r.next, r.missed, r.begun = owners, mine, "", false, true
}

// forget has owners that the round has asked for read for themselves, because everybody is due for a reason.
func (r *resync) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = nil
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
		r.asked = map[intent.Path]view{}
	}
	r.asked[owner] = view{}
}

// give has the step of an owner read a view, if the round alone has asked for the owner since.
func (r *resync) give(owner intent.Path, read view) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, asked := r.asked[owner]; asked {
		r.asked[owner] = read
	}
}

// told notes that an owner is due for a reason: what its step does is nothing that the
// round has found.
func (r *resync) told(owner intent.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, owner)
}

// compare returns a context for the step of an owner. If the round alone has asked for the owner, the step reads
// what was read for it. At the end, compare counts whether the step has changed something.
func (r *resync) compare(ctx context.Context, c *Controller, owner intent.Path) (_ context.Context, end func()) {
	r.mu.Lock()
	read, asked := r.asked[owner]
	r.mu.Unlock()
	if !asked {
		return ctx, func() {}
	}
	if time.Now().After(read.until) {
		read.View = nil
	}
	within, wrote := c.within(ctx, read.View)
	before, errBefore := c.stamp(within, owner)
	return within, func() {
		after, errAfter := before, errBefore
		if wrote() {
			after, errAfter = c.stamp(ctx, owner)
		}
		r.mu.Lock()
		_, still := r.asked[owner]
		delete(r.asked, owner)
		r.mu.Unlock()
		if still && errBefore == nil && errAfter == nil && before != after {
			c.metrics.found.Inc()
			c.service.Logger.WarnContext(ctx, "nobody had told of a change that was found", "owner", owner)
		}
	}
}

// within returns a context that reads a view until it writes, and tells whether it has written. If there is no
// view, it reads as ctx does, and nobody knows.
func (c *Controller) within(ctx context.Context, read *snapshot.View) (_ context.Context, wrote func() bool) {
	store, can := c.service.KV.(*snapshot.Store)
	if !can || read == nil {
		return ctx, func() bool { return true }
	}
	ctx, at := store.BeginAt(ctx, read)
	return ctx, at.Ended
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
