package apply

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

const (
	// resyncEvery is how often all objects are looked at, whether or not anybody told that
	// something has changed about them.
	resyncEvery = 30 * time.Minute

	// toldWithin is how long after a change somebody may still tell of it.
	toldWithin = time.Second
)

// resync is the look at all objects, for what nobody has told.
type resync struct {
	next     time.Time          // when it is due
	untold   map[bundle.ID]bool // what it found: something is to be done about these objects
	untoldAt time.Time
}

// decideOpen decides about each object on the agenda, and about those that were left
// open, and answers what is to be done, ordered. Any other object is as it should be, and
// nothing has changed about it since that was found.
func (t *Applier) decideOpen() []action {
	t.takeAgenda()
	var actions []action
	for id := range t.open {
		a, ready := t.decide(id)
		if a.operation == nothing {
			delete(t.open, id)
		}
		if ready {
			actions = append(actions, a)
		}
	}
	if len(t.open) == 0 {
		t.open = map[bundle.ID]bool{} // an empty map keeps the memory of all that it held
	}
	slices.SortFunc(actions, func(a, b action) int { return bundle.Compare(a.id, b.id) })
	return actions
}

// takeAgenda adds what is on the agenda to the open objects.
func (t *Applier) takeAgenda() {
	ids, all := t.Agenda.Take()
	maps.Copy(t.open, ids)
	maps.DeleteFunc(t.resync.untold, func(id bundle.ID, _ bool) bool { return all || ids[id] })
	if all {
		t.each(func(id bundle.ID) { t.open[id] = true })
	}
}

// each visits all objects that are wanted or in the ledger.
func (t *Applier) each(visit func(bundle.ID)) {
	for id := range t.Desired.Objects() {
		visit(id)
	}
	for id := range t.Ledger.Entries() {
		if !t.Desired.Has(id) {
			visit(id)
		}
	}
}

// lookAtAll decides about all objects if it is time for that. If something is to be done
// about one, and nobody tells of it soon, it is counted and becomes open.
func (t *Applier) lookAtAll(ctx context.Context) {
	now := t.Clock.Now()
	switch {
	case len(t.resync.untold) > 0:
		if now.Before(t.resync.untoldAt.Add(toldWithin)) {
			return
		}
		t.takeAgenda()
		for id := range t.resync.untold {
			if !t.open[id] {
				t.open[id] = true
				t.Metrics.Missed()
				t.Logger.WarnContext(ctx, "nobody told that something has changed", "object", id.String())
			}
		}
		t.resync.untold = nil
	case !now.Before(t.resync.next):
		t.takeAgenda()
		t.resync = resync{next: now.Add(resyncEvery), untold: map[bundle.ID]bool{}, untoldAt: now}
		t.each(func(id bundle.ID) {
			if a, ready := t.decide(id); ready && !t.open[id] {
				t.resync.untold[a.id] = true
			}
		})
	}
}

// beginResync has the first look at all objects come between half of resyncEvery and the
// whole, at another time for each cluster.
func (t *Applier) beginResync(now time.Time) {
	spread := t.Fence.ModRevision % int64(resyncEvery/2/time.Second)
	t.resync.next = now.Add(resyncEvery/2 + time.Duration(spread)*time.Second)
}
