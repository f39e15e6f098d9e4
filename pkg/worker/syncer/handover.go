package syncer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// handOver has rsync bring the cluster one step nearer to what is wanted, and
// notes in the ledger how far it has come. Nothing but what is seen comes from
// the cluster itself, if it lets Signpost look.
func (t *clusterWorker) handOver(ctx context.Context, moves int64) (time.Duration, error) {
	if _, err := t.reach(ctx); err != nil {
		return 0, err
	}
	t.resyncHandovers()
	shares, err := t.handovers(ctx)
	if err != nil {
		return 0, err
	}
	t.noteWanted()
	if err := t.flush(ctx); err != nil {
		return 0, err
	}
	for _, owner := range slices.SortedFunc(maps.Keys(shares), prerequisitesFirst) {
		if err := t.stepHandover(ctx, owner, shares[owner]); err != nil {
			return 0, err
		}
	}
	t.remember()
	t.noteProgress(ctx)
	if err := t.flush(ctx); err != nil {
		return 0, err
	}
	t.follow()
	t.publish()
	t.updateQuestions()
	return t.restHandovers(moves), nil
}

// handovers parts what is wanted by the owners to whom it belongs in the eyes
// of rsync, and has an empty part for those who want nothing any more. What is
// to be taken away is decided on pointers that were read just now.
func (t *clusterWorker) handovers(ctx context.Context) (map[appcontext.Owner]handover.Wanted, error) {
	shares, err := t.shares()
	if err != nil {
		return nil, err
	}
	for _, h := range t.handed {
		if h.Loses(t.desired.has) {
			if _, err := t.index.Refresh(ctx); err != nil {
				return nil, err
			}
			if err := t.desired.load(ctx, t.index, t.contexts, t.name, t.installation, t.entries); err != nil {
				return nil, err
			}
			return t.shares()
		}
	}
	return shares, nil
}

func (d *desired) has(id bundle.ID) bool { return d.objects[id] != nil }

func (t *clusterWorker) shares() (map[appcontext.Owner]handover.Wanted, error) {
	shares := map[appcontext.Owner]handover.Wanted{}
	for owner := range t.handed {
		shares[owner] = handover.Wanted{Applied: t.everApplied}
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.desired.objects), bundle.Compare) {
		want := t.desired.objects[id]
		if unfitForRsync(want) != "" {
			continue
		}
		if err := want.label(); err != nil {
			return nil, err
		}
		owner := ownerOf(id, want)
		share := shares[owner]
		share.Objects = append(share.Objects, want.labelled)
		share.Applied = t.everApplied
		share.ContextID = t.desired.shares[owner].pointer.ContextID
		shares[owner] = share
	}
	return shares, nil
}

// label makes the object that is handed over, with the labels by which the
// watches find what is ours.
func (w *wanted) label() error {
	if w.labelled.JSON != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(w.object.JSON))
	decoder.UseNumber() // of whatever size
	var content map[string]any
	if err := decoder.Decode(&content); err != nil {
		return err
	}
	metadata, _ := content["metadata"].(map[string]any)
	metadata["labels"] = w.marks.Labels
	raw, err := json.Marshal(content)
	if err == nil {
		w.labelled, err = bundle.Parse(w.object.Cluster, w.object.App, raw)
	}
	return err
}

func (t *clusterWorker) everApplied(id bundle.ID) bool { return t.entries[id].Digest != "" }

// ownerOf is the owner as whose an object is handed over.
func ownerOf(id bundle.ID, want *wanted) appcontext.Owner {
	if handover.IsPrerequisite(id) {
		return handover.Prerequisites
	}
	return appcontext.Owner(want.owners[0])
}

// unfitForRsync says why an object cannot be handed over. Plans refuse what
// would lead to one.
func unfitForRsync(want *wanted) string {
	switch {
	case want.shared:
		return "it belongs to somebody else, and rsync cannot put single keys into it"
	case want.marks.Annotations[bundle.AnnotationValuesFrom] != "":
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

// stepHandover steps that of one owner. An owner waits for the prerequisites to
// be tried, and for another one to let go of an object.
func (t *clusterWorker) stepHandover(ctx context.Context, owner appcontext.Owner, w handover.Wanted) error {
	h := t.handed[owner]
	if h == nil {
		h = t.rsync.Handover(t.name, owner, t.fence)
		t.handed[owner] = h
	}
	before := t.handed[handover.Prerequisites]
	switch {
	case owner == handover.Prerequisites:
	case t.index.Suspended([]string{string(owner)}):
		return nil
	case len(w.Objects) > 0 && before != nil && before.Leads():
		h.Wait(joined("waits for namespaces and definitions of kinds", before.Trouble()))
		return nil
	case t.heldByAnother(owner, w.Objects):
		h.Wait("waits for another owner of the same object to release it")
		return nil
	}
	return h.Step(ctx, w)
}

func (t *clusterWorker) heldByAnother(owner appcontext.Owner, objects bundle.Bundle) bool {
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

// noteWanted writes down what is wanted, and what is to go, before rsync is
// asked for it. What was handed over and has no entry any more is in no cluster
// that is known: the entries speak of another one.
func (t *clusterWorker) noteWanted() {
	for id, want := range t.desired.objects {
		e, known := t.entries[id]
		if !known {
			e = ledger.Entry{ID: id, Status: ledger.Pending}
			if h := t.handed[ownerOf(id, want)]; h != nil && h.Gave(want.labelled) {
				h.Reinstall()
			}
		}
		e.Owners, e.Losing, e.Going = want.owners, want.losing, false
		t.set(e)
	}
	for id, e := range t.entries {
		if t.desired.objects[id] == nil {
			e.Going = true
			t.set(e)
		}
	}
}

// noteProgress writes down what rsync has done.
func (t *clusterWorker) noteProgress(ctx context.Context) {
	for owner, h := range t.handed {
		if h.Empty() {
			delete(t.handed, owner)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.entries), bundle.Compare) {
		if want := t.desired.objects[id]; want != nil {
			t.noteObject(ctx, t.entries[id], want)
		} else {
			t.noteGoing(ctx, t.entries[id])
		}
	}
}

func (t *clusterWorker) noteObject(ctx context.Context, e ledger.Entry, want *wanted) {
	h := t.handed[ownerOf(e.ID, want)]
	switch why := unfitForRsync(want); {
	case why != "":
		e.Status, e.Message = ledger.Failed, why
	case h == nil:
		return
	default:
		e.Status, e.Message = h.Progress(want.labelled)
	}
	if e.Status == ledger.Applied {
		if e.Digest != want.digest {
			e.UID, e.ResourceVersion, e.Generation = "", "", 0
		}
		e.Digest, e.CreatedByUs, e.Message = want.digest, !handover.IsPrerequisite(e.ID), want.message
		if e = t.identified(ctx, e); t.drifted(e) {
			t.logger.InfoContext(ctx, "drift is repaired by rsync", "object", e.ID.String())
			t.metrics.Repaired()
			h.Reinstall()
			e.Status, e.UID, e.ResourceVersion, e.Generation = ledger.Pending, "", "", 0
		}
	}
	if e.Message != "" && e.Message != t.entries[e.ID].Message {
		t.logger.WarnContext(ctx, "object deferred", "object", e.ID.String(), "message", e.Message)
	}
	t.set(e)
}

// identified looks once at what rsync has applied, so that what is seen later
// can be told to be of this content.
func (t *clusterWorker) identified(ctx context.Context, e ledger.Entry) ledger.Entry {
	if e.UID != "" || !e.CreatedByUs || !t.verified || t.failures > 0 {
		return e
	}
	live, err := t.target.Get(ctx, e.ID)
	switch {
	case err != nil:
		if cluster.FaultOf(err) != cluster.Refused {
			t.suspect()
		}
	case live != nil:
		e.UID, e.ResourceVersion, e.Generation = live.UID, live.ResourceVersion, live.Generation
	}
	return e
}

// drifted tells whether what rsync has applied is seen to be gone, or edited.
func (t *clusterWorker) drifted(e ledger.Entry) bool {
	if e.UID == "" {
		return false
	}
	seen := t.sight(e.ID, e.ResourceVersion)
	return seen.Known && (seen.Live == nil || seen.Live.UID != e.UID || seen.Live.Generation > e.Generation)
}

func (t *clusterWorker) noteGoing(ctx context.Context, e ledger.Entry) {
	for _, h := range t.handed {
		if going, message := h.Going(e.ID); going {
			e.Status, e.Message = ledger.Deleted, message
			t.set(e)
			return
		}
	}
	t.logger.InfoContext(ctx, "object gone", "object", e.ID.String())
	t.drop(e.ID)
}

// restHandovers answers how long nothing needs to be done, unless something
// happens.
func (t *clusterWorker) restHandovers(moves int64) time.Duration {
	settled, wait := moves, max(0, t.nextProbe.Sub(t.clock.Now()))
	for _, owner := range slices.Sorted(maps.Keys(t.handed)) {
		if h := t.handed[owner]; !h.Settled() && !t.index.Suspended([]string{string(owner)}) {
			settled, wait = -1, min(wait, h.Due())
		}
	}
	t.settledAt.Store(settled)
	return wait
}

// resyncHandovers looks again at what was handed over, if rsync has done something, and at
// times.
func (t *clusterWorker) resyncHandovers() {
	now := t.clock.Now()
	if !t.rsyncChanged.Swap(false) && now.Before(t.looked.Add(pace.Settled)) {
		return
	}
	t.looked = now
	for _, h := range t.handed {
		h.Stir()
	}
}

// remember keeps which contexts concern the cluster.
func (t *clusterWorker) remember() {
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

func (t *clusterWorker) handedOver(contextID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[contextID]
}

// asRsyncSees is the state of a cluster that does not let Signpost look. It is
// reached as long as it answers rsync.
func (t *clusterWorker) asRsyncSees(r observed.Reachability) observed.Reachability {
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
