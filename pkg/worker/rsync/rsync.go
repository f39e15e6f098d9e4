// Package rsync has EMCO's rsync bring one cluster to what is wanted.
package rsync

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/link"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Handovers has rsync bring one cluster to what is wanted: it hands over what each owner
// has there. It is for a single goroutine, but for Changed.
type Handovers struct {
	*state.Picture
	link   *link.Link
	rsync  *handover.Store
	handed map[appcontext.Owner]*handover.Handover
	looked time.Time // when all that was handed over was last looked at

	changed atomic.Bool // rsync has done something

	mu    sync.Mutex
	known map[string]bool // the contexts that were handed over
}

// New makes Handovers that have not read yet what was handed over.
func New(of *state.Picture, over *link.Link, rsync *handover.Store) *Handovers {
	return &Handovers{Picture: of, link: over, rsync: rsync}
}

// Load reads what was handed over before.
func (t *Handovers) Load(ctx context.Context) error {
	handed, err := t.rsync.Cluster(ctx, t.Name, t.Fence)
	if err == nil {
		t.handed = handed
	}
	return err
}

// Empty tells whether nothing is handed over.
func (t *Handovers) Empty() bool { return len(t.handed) == 0 }

// Changed tells that rsync has done something, and wakes the step if that may
// concern this cluster.
func (t *Handovers) Changed(change emco.Change) {
	if change.Lost || slices.ContainsFunc(change.Contexts, func(c emco.Changed) bool { return t.handedOver(c.ID) }) {
		t.changed.Store(true)
		t.Signals.Step.Wake()
	}
}

// Step has rsync bring the cluster one step nearer to what is wanted, and notes in
// the ledger how far it has come. Only observations come from the cluster itself,
// if it lets Signpost look. Step answers when the next one is due at the latest, and
// whether nothing is left to do.
func (t *Handovers) Step(ctx context.Context) (wait time.Duration, settled bool, err error) {
	if _, err := t.link.Reach(ctx, t); err != nil {
		return 0, false, err
	}
	t.Agenda.Take() // it looks at everything
	t.resync()
	shares, err := t.handovers(ctx)
	if err != nil {
		return 0, false, err
	}
	t.noteWanted()
	if err := t.Ledger.Flush(ctx); err != nil {
		return 0, false, err
	}
	for _, owner := range slices.SortedFunc(maps.Keys(shares), prerequisitesFirst) {
		if err := t.stepHandover(ctx, owner, shares[owner]); err != nil {
			return 0, false, err
		}
	}
	t.remember()
	t.noteProgress(ctx)
	if err := t.Ledger.Flush(ctx); err != nil {
		return 0, false, err
	}
	t.Follow()
	t.Publish()
	t.UpdateQuestions()
	wait, settled = t.rest()
	return wait, settled, nil
}

// handovers parts what is wanted by the owners to whom it belongs in the eyes of rsync.
// Owners who want nothing any more have an empty part. Before something is taken away,
// the pointers are read.
func (t *Handovers) handovers(ctx context.Context) (map[appcontext.Owner]handover.Wanted, error) {
	shares, err := t.shares()
	if err != nil {
		return nil, err
	}
	for _, h := range t.handed {
		if h.Loses(t.Desired.Has) {
			if _, err := t.Index.Refresh(ctx); err != nil {
				return nil, err
			}
			if err := t.Desired.Load(ctx, t.Ledger.Entries()); err != nil {
				return nil, err
			}
			return t.shares()
		}
	}
	return shares, nil
}

func (t *Handovers) shares() (map[appcontext.Owner]handover.Wanted, error) {
	shares := map[appcontext.Owner]handover.Wanted{}
	for owner := range t.handed {
		shares[owner] = handover.Wanted{Applied: t.everApplied}
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.Desired.Objects()), bundle.Compare) {
		want := t.Desired.Object(id)
		if unfitForRsync(want) != "" {
			continue
		}
		if err := want.Label(); err != nil {
			return nil, err
		}
		owner := ownerOf(id, want)
		share := shares[owner]
		share.Objects = append(share.Objects, want.HandedOver())
		share.Applied = t.everApplied
		share.ContextID = t.Desired.Context(string(owner))
		shares[owner] = share
	}
	return shares, nil
}

func (t *Handovers) everApplied(id bundle.ID) bool { return t.Ledger.Entries()[id].Digest != "" }

// ownerOf is the owner as whose an object is handed over.
func ownerOf(id bundle.ID, want *state.Wanted) appcontext.Owner {
	if handover.IsPrerequisite(id) {
		return handover.Prerequisites
	}
	return appcontext.Owner(want.Owners[0])
}

// unfitForRsync says why an object cannot be handed over. Plans refuse what
// would lead to one.
func unfitForRsync(want *state.Wanted) string {
	switch {
	case want.Shared():
		return "it belongs to somebody else, and rsync cannot put single keys into it"
	case want.Marks.Annotations[bundle.AnnotationValuesFrom] != "":
		return "it holds secret values, which would be plain in an app context"
	}
	return ""
}

func prerequisitesFirst(a, b appcontext.Owner) int {
	rank := func(o appcontext.Owner) int {
		if o == handover.Prerequisites {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b))
}

// stepHandover steps that of one owner. An owner waits for the prerequisites to be
// tried, and for another one to release an object.
func (t *Handovers) stepHandover(ctx context.Context, owner appcontext.Owner, w handover.Wanted) error {
	h := t.handed[owner]
	if h == nil {
		h = t.rsync.Handover(t.Name, owner, t.Fence)
		t.handed[owner] = h
	}
	before := t.handed[handover.Prerequisites]
	switch {
	case owner == handover.Prerequisites:
	case t.Index.Suspended([]string{string(owner)}):
		return nil
	case len(w.Objects) > 0 && before != nil && before.Leads():
		h.Wait(state.Join("waits for namespaces and definitions of kinds", before.Trouble()))
		return nil
	case t.heldByAnother(owner, w.Objects):
		h.Wait("waits for another owner of the same object to release it")
		return nil
	}
	return h.Step(ctx, w)
}

func (t *Handovers) heldByAnother(owner appcontext.Owner, objects bundle.Bundle) bool {
	for other, h := range t.handed {
		if other == owner {
			continue
		}
		for _, o := range objects {
			if going, _ := h.Going(o.ID); going {
				return true
			}
		}
	}
	return false
}

// noteWanted writes down what is wanted, and what is to go, before rsync is asked for
// it. An object that was handed over and has no entry any more is in no cluster that is
// known: the entries speak of another one.
func (t *Handovers) noteWanted() {
	for id, want := range t.Desired.Objects() {
		e, known := t.Ledger.Entries()[id]
		if !known {
			e = ledger.Entry{ID: id, Status: ledger.Pending}
			if h := t.handed[ownerOf(id, want)]; h != nil && h.Gave(want.HandedOver()) {
				h.Reinstall()
			}
		}
		e.Owners, e.Losing, e.Going = want.Owners, want.Losing(), false
		t.Ledger.Set(e)
	}
	for id, e := range t.Ledger.Entries() {
		if t.Desired.Object(id) == nil {
			e.Going = true
			t.Ledger.Set(e)
		}
	}
}

// noteProgress writes down what rsync has done.
func (t *Handovers) noteProgress(ctx context.Context) {
	for owner, h := range t.handed {
		if h.Empty() {
			delete(t.handed, owner)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.Ledger.Entries()), bundle.Compare) {
		if want := t.Desired.Object(id); want != nil {
			t.noteObject(ctx, t.Ledger.Entries()[id], want)
		} else {
			t.noteGoing(ctx, t.Ledger.Entries()[id])
		}
	}
}

func (t *Handovers) noteObject(ctx context.Context, e ledger.Entry, want *state.Wanted) {
	h := t.handed[ownerOf(e.ID, want)]
	switch why := unfitForRsync(want); {
	case why != "":
		e.Status, e.Message = ledger.Failed, why
	case h == nil:
		return
	default:
		e.Status, e.Message = h.Progress(want.HandedOver())
	}
	if e.Status == ledger.Applied {
		if e.Digest != want.Digest {
			e.UID, e.ResourceVersion, e.Generation = "", "", 0
		}
		e.Digest, e.CreatedByUs, e.Message = want.Digest, !handover.IsPrerequisite(e.ID), want.Message()
		if e = t.identified(ctx, e); t.drifted(e) {
			t.Logger.InfoContext(ctx, "drift is repaired by rsync", "object", e.ID.String())
			t.Metrics.Repaired()
			h.Reinstall()
			e.Status, e.UID, e.ResourceVersion, e.Generation = ledger.Pending, "", "", 0
		}
	}
	if e.Message != "" && e.Message != t.Ledger.Entries()[e.ID].Message {
		t.Logger.WarnContext(ctx, "object deferred", "object", e.ID.String(), "message", e.Message)
	}
	t.Ledger.Set(e)
}

// identified looks once at what rsync has applied, so that what is seen later
// can be told to be of this content.
func (t *Handovers) identified(ctx context.Context, e ledger.Entry) ledger.Entry {
	if e.UID != "" || !e.CreatedByUs || !t.link.Answers() {
		return e
	}
	live, err := t.link.Target().Get(ctx, e.ID)
	switch {
	case err != nil:
		if fault.Of(err) != fault.Refused {
			t.link.Suspect()
		}
	case live != nil:
		e.UID, e.ResourceVersion, e.Generation = live.UID, live.ResourceVersion, live.Generation
	}
	return e
}

// drifted tells whether what rsync has applied is seen to be gone, or edited.
func (t *Handovers) drifted(e ledger.Entry) bool {
	if e.UID == "" {
		return false
	}
	seen := t.link.Sight(e.ID, e.ResourceVersion)
	return seen.Known && (seen.Live == nil || seen.Live.UID != e.UID || seen.Live.Generation > e.Generation)
}

func (t *Handovers) noteGoing(ctx context.Context, e ledger.Entry) {
	for _, h := range t.handed {
		if going, message := h.Going(e.ID); going {
			e.Status, e.Message = ledger.Deleted, message
			t.Ledger.Set(e)
			return
		}
	}
	t.Logger.InfoContext(ctx, "object gone", "object", e.ID.String())
	t.Ledger.Drop(e.ID)
}

// rest answers how long nothing needs to be done, unless something happens, and
// whether nothing is left to do.
func (t *Handovers) rest() (wait time.Duration, settled bool) {
	settled, wait = true, t.link.NextProbe(t.Clock.Now())
	for _, owner := range slices.Sorted(maps.Keys(t.handed)) {
		if h := t.handed[owner]; !h.Settled() && !t.Index.Suspended([]string{string(owner)}) {
			settled, wait = false, min(wait, h.Due())
		}
	}
	return wait, settled
}

// resync looks again at what was handed over, if rsync has done something, and at
// times.
func (t *Handovers) resync() {
	now := t.Clock.Now()
	if !t.changed.Swap(false) && now.Before(t.looked.Add(pace.Settled)) {
		return
	}
	t.looked = now
	for _, h := range t.handed {
		h.LookAgain()
	}
}

// remember keeps which contexts concern the cluster.
func (t *Handovers) remember() {
	known := map[string]bool{}
	for _, h := range t.handed {
		for _, id := range h.Contexts() {
			known[id] = true
		}
	}
	t.mu.Lock()
	t.known = known
	t.mu.Unlock()
}

func (t *Handovers) handedOver(contextID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[contextID]
}

// Replaced implements link.Listener.
func (t *Handovers) Replaced() {}

// Answered implements link.Listener.
func (t *Handovers) Answered(bool, time.Time) {}

// Judge implements link.Listener: a cluster that does not let Signpost look is
// reached as long as it answers rsync.
func (t *Handovers) Judge(r observed.Reachability) observed.Reachability {
	own := r
	for _, h := range t.handed {
		switch reached, known := h.Reached(); {
		case known && !reached:
			own.Counted = own.Since
			own.Message = "rsync does not reach the cluster, and Signpost itself does not: " + own.Message
			return own
		case known:
			r.Reachable, r.Counted = true, time.Time{}
			r.Message = "rsync reaches the cluster, Signpost itself does not: " + own.Message
		}
	}
	return r
}
