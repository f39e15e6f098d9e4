package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// resync goes round all owners, a few at a time, in case that nobody has told of a
// change. It counts the changes that it finds.
type resync struct {
	mu     sync.Mutex
	owners int                  // at the last look at all of them, or as many as the last round came by
	passed int                  // owners that this round has come by
	mine   int                  // of them this replica's
	begun  bool                 // there was such a look
	looked bool                 // all owners of a look at all of them have had their turn
	missed bool                 // that look failed
	next   string               // where the next look begins
	asked  map[intent.Path]turn // owners that were put into the queue with others
}

// turn is how an owner is due that was put into the queue with others.
type turn struct {
	round    bool      // the round alone has come to it: nobody has told of it
	together *together // nil: its step reads for itself
}

// keepLooking looks at all owners every scanEvery, or goes its round if a watch of documents tells of changes. Such a watch
// begins with a look at all. If it does not begin, the first turn of the round looks at them.
func (c *Controller) keepLooking(ctx context.Context) {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		changed, err := c.service.Renderer.NoteFrozen(ctx)
		if err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "the reachability of clusters cannot be read", "error", err)
		}
		switch {
		case changed || c.service.Watch == nil:
			c.scan(ctx)
		case !first:
			c.lookOn(ctx)
		}
		c.sweep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
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
	page, err := c.service.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection, PathsOnly: true})
	if err != nil {
		c.resync.miss()
		c.service.Logger.WarnContext(ctx, "owners cannot be listed", "error", err)
		return
	}
	var first, then []intent.Path
	for _, doc := range page.Items {
		switch owner := state.OwnerOf(doc.Path); {
		case !c.share.has(owner):
		case state.IsRecord(owner): // it wakes its users, which then wait in the queue already
			first = append(first, owner)
		default:
			then = append(then, owner)
		}
	}
	c.lookAt(slices.Concat(first, then), false)
	c.resync.looking(len(page.Items), len(first)+len(then))
	if c.order.idle() { // else the next work that is done sees it through
		c.seeThrough()
	}
}

// lookAt puts owners into the queue, in about this order. Work that comes for one owner alone goes before it.
func (c *Controller) lookAt(owners []intent.Path, round bool) {
	c.resync.ask(owners, round)
	for _, owner := range striped(owners) {
		todo := work{owner: owner}
		c.order.place(todo, goesLast)
		c.queue.Add(todo)
	}
}

// seeThrough notes when all owners of a look have had their turn.
func (c *Controller) seeThrough() {
	if c.queue.Len() == 0 {
		c.resync.through()
	}
}

// lookOn puts the next owners of the round into the queue: so many that each has its turn
// in half an hour. It takes resyncMost at most.
func (c *Controller) lookOn(ctx context.Context) {
	limit, after, missed := c.resync.turn()
	if missed {
		c.scan(ctx)
		return
	}
	page, err := c.service.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection, Limit: limit, After: after, PathsOnly: true})
	if err != nil {
		c.service.Logger.WarnContext(ctx, "owners cannot be listed", "error", err)
		return
	}
	var owners []intent.Path
	for _, doc := range page.Items {
		if owner := state.OwnerOf(doc.Path); c.share.has(owner) {
			owners = append(owners, owner)
		}
	}
	c.lookAt(owners, true)
	c.resync.went(page)
}

// looking notes how many owners there are, and how many of them are this replica's.
func (r *resync) looking(owners, mine int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners, r.passed, r.mine, r.next, r.missed, r.begun = owners, 0, mine, "", false, true
}

// forget forgets who was asked, because everybody is about to be.
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

// starts tells whether the first look at all owners goes on.
func (r *resync) starts() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.looked
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

// turn is how many owners have their turn now, and behind which. Missed says that all have: a look at them failed, or there
// was none.
func (r *resync) turn() (limit int, after string, missed bool) {
	const turns = int(resyncIn / scanEvery)
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.owners/turns+1, resyncMost), r.next, r.missed || !r.begun
}

// went notes where a turn ended.
func (r *resync) went(page intent.Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed += len(page.Items)
	r.owners = max(r.owners, r.passed)
	if page.Continue != "" {
		_, r.next = page.Items[len(page.Items)-1].Path.Split()
		return
	}
	r.owners, r.passed, r.next = r.passed, 0, ""
}

// ask notes that owners come into the queue with each other, for the round or for another reason. Names read together. For
// owners that wait for a reason, the reason stays.
func (r *resync) ask(owners []intent.Path, round bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[intent.Path]turn{}
	}
	var names []intent.Path
	for _, owner := range owners {
		if waits, asked := r.asked[owner]; !state.IsRecord(owner) {
			r.asked[owner] = turn{round: round && (!asked || waits.round)}
		}
		if intent.IsName(owner) {
			names = append(names, owner)
		}
	}
	for some := range slices.Chunk(names, readAtOnce) {
		reads := newTogether(some)
		for _, name := range some {
			r.asked[name] = turn{r.asked[name].round, reads}
		}
	}
}

// told notes that an owner is due for a reason: what its step does is nothing that the
// round has found. The step reads nothing that was read for others before.
func (r *resync) told(owner intent.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why, asked := r.asked[owner]; asked && why.together != nil && !why.together.begun {
		r.asked[owner] = turn{together: why.together}
		return
	}
	delete(r.asked, owner)
}

// begin has names that are together begin to read, and answers those of them that are still due and to read so.
func (r *resync) begin(t *together) []intent.Path {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.begun = true
	return slices.DeleteFunc(slices.Clone(t.names), func(name intent.Path) bool { return r.asked[name].together != t })
}

// turnOf is the turn of an owner that was put into the queue with others.
func (r *resync) turnOf(owner intent.Path) (why turn, asked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	why, asked = r.asked[owner]
	return why, asked
}

// had ends the turn of an owner, and answers whether the round alone has still come to it.
func (r *resync) had(owner intent.Path) (alone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	alone = r.asked[owner].round
	delete(r.asked, owner)
	if len(r.asked) == 0 {
		r.asked = nil // a map stays as large as it was with all owners
	}
	return alone
}

// compare returns a context for the step of an owner. If nobody has told of the owner, the step reads
// what was read for it and others. If the round alone has come to it, end counts whether the step has changed something.
func (r *resync) compare(ctx context.Context, c *Controller, owner intent.Path) (_ context.Context, end func()) {
	why, asked := r.turnOf(owner)
	if !asked {
		return ctx, func() {}
	}
	within, wrote := c.within(ctx, why.together.view(ctx, c))
	if !why.round {
		return within, func() { r.had(owner) }
	}
	before, errBefore := c.stamp(within, owner)
	return within, func() {
		after, errAfter := before, errBefore
		if wrote() {
			after, errAfter = c.stamp(ctx, owner)
		}
		if r.had(owner) && errBefore == nil && errAfter == nil && before != after {
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
