package controller

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Bounds of what is read for several names.
const (
	readAtOnce = 64              // names
	readLasts  = 2 * time.Second // the steps that begin later read again
)

// together are names that are due, one behind the other. The first of their steps reads for all of them,
// after they were asked: of what changes later, the owners are told.
type together struct {
	names []intent.Path
	begun bool          // to read; under the lock of resync
	free  chan struct{} // holds one while no step is at the fields below
	read  *snapshot.View
	until time.Time
}

// striped orders owners so that the names that are stepped at once are those of different reads. So workers do not wait for one read
// together. Other owners come first.
func striped(owners []intent.Path) (all []intent.Path) {
	var names []intent.Path
	for _, owner := range owners {
		if intent.IsName(owner) {
			names = append(names, owner)
		} else {
			all = append(all, owner)
		}
	}
	for some := range slices.Chunk(names, workers*readAtOnce) {
		for n := range readAtOnce {
			for at := n; at < len(some); at += readAtOnce {
				all = append(all, some[at])
			}
		}
	}
	return all
}

func newTogether(names []intent.Path) *together {
	t := &together{names: names, free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return t
}

// view is what was read for the names lately, nil if each of them has to read for itself.
func (t *together) view(ctx context.Context, c *Controller) *snapshot.View {
	if t == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-t.free:
	}
	defer func() { t.free <- struct{}{} }()
	if time.Now().After(t.until) {
		t.read, t.until = c.service.Reconciler.ReadTogether(ctx, c.resync.begin(t)), time.Now().Add(readLasts)
	}
	return t.read
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
