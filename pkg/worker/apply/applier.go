// Package apply brings one cluster to what is wanted by its own requests.
//
// A step decides from three pictures: what current contexts want, what the ledger says was
// put there, and what the watches see. It decides about the objects of which one of these
// has changed, and about those that are not at rest. An agenda names them. Decisions are
// not queued: each is made anew (I3, I5).
package apply

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/tracing"
	"github.com/signpost-dns/signpost/pkg/worker/link"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// MayUse says why owners may not put objects into a namespace that somebody else
// made; empty: they may.
type MayUse func(ctx context.Context, cluster, namespace string, owners []string) (refused string, err error)

// Applier brings one cluster to what is wanted. It is for a single goroutine.
type Applier struct {
	*state.Picture
	link   *link.Link
	mayUse MayUse // nil: all may
	tracer *tracing.Tracer

	attempts       attempts
	waiting        waiting
	pendingCreates pendingCreates
	contests       contests
	recheck        map[bundle.ID]bool
	open           map[bundle.ID]bool // the objects about which something is left to do, or has changed
	resync         resync

	ownedAt atomic.Pointer[time.Time] // when the cluster was last read to be this worker's
}

// New makes an Applier that has done nothing yet. All owners may use all
// namespaces if mayUse is nil.
func New(of *state.Picture, over *link.Link, mayUse MayUse, tracer *tracing.Tracer) *Applier {
	return &Applier{
		Picture: of, link: over, mayUse: mayUse, tracer: tracer,
		attempts: attempts{}, pendingCreates: pendingCreates{}, contests: contests{}, recheck: map[bundle.ID]bool{}, open: map[bundle.ID]bool{},
	}
}

// Load takes up what an earlier worker has left. The ledger must have been read.
func (t *Applier) Load(context.Context) error {
	now := t.Clock.Now()
	t.pendingCreates.inherit(t.Ledger.Entries(), now)
	t.beginResync(now)
	return nil
}

// Empty tells whether nothing is left but what the ledger says.
func (t *Applier) Empty() bool { return true }

// Replaced implements link.Listener.
func (t *Applier) Replaced() {
	clear(t.attempts)
	clear(t.pendingCreates)
}

// Answered implements link.Listener.
func (t *Applier) Answered(back bool, now time.Time) {
	t.pendingCreates.answers(back, now)
	t.lookAgain(func(id bundle.ID) bool { return t.Ledger.Entries()[id].Shared }) // no watch tells of others' objects
}

// Judge implements link.Listener: the cluster is as the probe found it.
func (t *Applier) Judge(seen observed.Reachability) observed.Reachability { return seen }

// Step brings the cluster one step nearer to what is wanted. It answers when the
// next step is due at the latest, and whether nothing is left to do. An error is
// the store's, or ledger.ErrLost.
func (t *Applier) Step(ctx context.Context) (wait time.Duration, settled bool, err error) {
	t.UpdateQuestions()
	reachable, err := t.link.Reach(ctx, t)
	if err != nil {
		return 0, false, err
	}
	now := t.Clock.Now()
	actions, err := t.plan(ctx)
	if err != nil {
		return 0, false, err
	}
	t.recordPending(actions)
	t.await(actions, now)
	if !reachable {
		t.deferApply(actions, "the cluster cannot be reached: "+t.HealthMessage())
		return t.link.NextProbe(now), false, t.Ledger.Flush(ctx)
	}
	if err := t.Ledger.Flush(ctx); err != nil {
		return 0, false, err
	}
	t.Follow()
	due := t.due(actions, now)
	if err := t.execute(ctx, due); err != nil {
		return 0, false, err
	}
	t.Publish()
	wait, settled = t.rest(actions)
	return wait, settled, nil
}

// plan decides what is to be done. Before it decides to delete something, it reads the
// pointers: an owner who came in between keeps its objects.
func (t *Applier) plan(ctx context.Context) ([]action, error) {
	t.lookAtAll(ctx)
	actions := t.decideOpen()
	if !slices.ContainsFunc(actions, func(a action) bool { return a.want == nil }) {
		return actions, nil
	}
	if _, err := t.Index.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := t.Desired.Load(ctx, t.Ledger.Entries()); err != nil {
		return nil, err
	}
	return t.decideOpen(), nil
}

// decide tells what is to be done about one object. It is ready unless all who own the
// object are suspended.
func (t *Applier) decide(id bundle.ID) (a action, ready bool) {
	want := t.Desired.Object(id)
	var entry *ledger.Entry
	version := ""
	if e, ok := t.Ledger.Entries()[id]; ok {
		entry, version = &e, e.ResourceVersion
	}
	a = decide(id, want, entry, t.link.Sight(id, version))
	if a.operation == nothing && t.recheck[id] && want != nil {
		a = a.do(create, "looked at again")
	}
	if a.operation != nothing && !t.Index.Suspended(ownersOf(want, entry)) {
		return a, true
	}
	t.annotate(entry, want)
	return a, false
}

// ownersOf are those whose object it is: who wants it, else who wanted it last.
func ownersOf(want *state.Wanted, entry *ledger.Entry) []string {
	switch {
	case want != nil:
		return want.Owners
	case entry != nil:
		return entry.Owners
	}
	return nil
}

// annotate notes who wants an object that needs nothing done.
func (t *Applier) annotate(entry *ledger.Entry, want *state.Wanted) {
	if entry == nil || want == nil {
		return
	}
	e := *entry
	e.Owners, e.Losing, e.Going, e.Kept = want.Owners, want.Losing(), false, false
	if e.Status == ledger.Applied && e.CreatedByUs {
		e.Message = want.Message()
	}
	if !e.Equal(*entry) {
		t.Ledger.Set(e)
	}
}

// recordPending writes down what is about to be done, before the first request.
func (t *Applier) recordPending(actions []action) {
	for _, a := range actions {
		e, known := t.Ledger.Entries()[a.id]
		switch {
		case a.want == nil:
			e.Going = true
		case !known:
			e = ledger.Entry{ID: a.id, Status: ledger.Pending, Shared: a.want.Shared(), Owners: a.want.Owners, Losing: a.want.Losing()}
		default:
			e.Owners, e.Losing, e.Going, e.Kept = a.want.Owners, a.want.Losing(), false, false
		}
		if a.operation == create && e.Status == ledger.Applied && e.CreatedByUs {
			e.Status = ledger.Pending // it is missing
		}
		t.Ledger.Set(e)
	}
}

// await notes what waits to be done.
func (t *Applier) await(actions []action, now time.Time) {
	var oldest time.Time
	t.waiting, oldest = t.waiting.after(actions, now)
	t.Metrics.Waits(oldest)
}

// due leaves out the actions whose objects rest.
func (t *Applier) due(actions []action, now time.Time) []action {
	var out []action
	for _, a := range actions {
		if ok, _ := t.attempts.due(a, now); ok {
			delete(t.recheck, a.id)
			out = append(out, a)
		}
	}
	return out
}

// rest answers how long nothing needs to be done, unless something happens, and
// whether nothing is left to do.
func (t *Applier) rest(actions []action) (wait time.Duration, settled bool) {
	settled = len(actions) == 0 && len(t.recheck) == 0
	now := t.Clock.Now()
	wait = pace.Settled
	for _, a := range actions {
		ok, until := t.attempts.due(a, now)
		if ok {
			return 0, settled // something was done: look whether that was all
		}
		wait = min(wait, until.Sub(now))
	}
	if len(t.recheck) > 0 {
		wait = min(wait, servedFirst)
	}
	if len(t.resync.untold) > 0 {
		wait = min(wait, toldWithin)
	}
	return min(wait, t.link.NextProbe(now)), settled
}

// drop removes the entry of an object that is gone.
func (t *Applier) drop(id bundle.ID) {
	delete(t.recheck, id)
	t.Ledger.Drop(id)
}
