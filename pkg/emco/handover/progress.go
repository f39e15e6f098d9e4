package handover

import (
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Progress is how far rsync has come with an object that is wanted, as of the
// last step, with what is to be said about it.
func (h *Handover) Progress(o bundle.Object) (ledger.Status, string) {
	now := h.seen[h.record.Context]
	result := h.results.Resources[placeOf(h.asGiven(o))]
	mine := result.Context == h.record.Context
	switch {
	case !same(h.given, o), h.again, h.redoing && now.state != "Instantiated":
		if h.trouble == "" {
			return ledger.Pending, ""
		}
		return ledger.Retrying, h.trouble
	case now.state == "Instantiated", mine && result.Status == "Applied", same(h.before, o) && h.was():
		return ledger.Applied, ""
	case now.ended() && mine && result.Status == "Failed":
		return ledger.Failed, "rsync could not apply it; its log says why"
	case now.ended():
		return ledger.Retrying, h.Trouble()
	}
	if trouble := h.Trouble(); trouble != "" {
		return ledger.Retrying, trouble
	}
	return ledger.Pending, ""
}

// Trouble says what keeps rsync from what it is to do, as of the last step;
// empty while nothing does.
func (h *Handover) Trouble() string {
	switch now := h.seen[h.record.Context]; {
	case h.trouble != "":
		return h.trouble
	case h.waiting:
		return "rsync waits for the cluster to answer"
	case !now.ended() || now.state == "Instantiated":
		return ""
	}
	for _, o := range h.given {
		if result := h.results.Resources[placeOf(o)]; result.Context == h.record.Context && result.Status == "Failed" {
			return "rsync could not apply " + o.ID.String() + ", and stopped there; its log says why"
		}
	}
	return "rsync could not begin, perhaps for want of credentials for the cluster by level and namespace; its log says why"
}

// Wait says that the handover waits for another one.
func (h *Handover) Wait(why string) { h.trouble = why }

// asGiven is an object by the app that it was handed over with.
func (h *Handover) asGiven(o bundle.Object) bundle.Object {
	if given, found := find(h.given, o.ID); found {
		return given
	}
	return o
}

// was tells whether all that was before had been applied.
func (h *Handover) was() bool {
	return h.seen[h.record.Before].in("Instantiated", "Updating", "Updated", "UpdatedFailed")
}

// Going tells whether an object that is not wanted may still be in the
// cluster, and what is to be said about it. Prerequisites stay there.
func (h *Handover) Going(id bundle.ID) (going bool, message string) {
	if h.owner == Prerequisites {
		return false, ""
	}
	for _, held := range []bundle.Bundle{h.given, h.before, h.rest} {
		if holds(held, id) {
			return true, h.trouble
		}
	}
	return false, ""
}

// Empty tells whether rsync has nothing of the owner any more.
func (h *Handover) Empty() bool { return h.record.empty() }

// Settled tells whether nothing is left to do, as of the last step.
func (h *Handover) Settled() bool { return h.rests }

// Ready tells whether rsync has tried all that it was given, as of the last
// step.
func (h *Handover) Ready() bool { return h.seen[h.record.Context].ended() }

// Leads tells whether others wait for it: until rsync has tried all, or takes
// long.
func (h *Handover) Leads() bool {
	return !h.Ready() && !h.Empty() && h.store.Now().Before(h.begun.Add(headstart))
}

// Reached tells whether the cluster answers rsync; known is false while rsync
// has not tried.
func (h *Handover) Reached() (reached, known bool) {
	return !h.waiting, h.waiting || h.Ready()
}

// Contexts are those that rsync has, or had.
func (h *Handover) Contexts() []string {
	return spend(h.record.Spent, h.record.Context, h.record.Before, h.record.Rest, h.record.First)
}

// Stir has the next step look again at what seemed to rest.
func (h *Handover) Stir() { h.rests, h.looks = false, 0 }

// Reinstall has the next step have rsync apply everything again: it is not there
// any more, or not as it was.
func (h *Handover) Reinstall() { h.rests, h.again = false, true }

// Due is how long nothing has to be done, unless rsync does something.
func (h *Handover) Due() time.Duration {
	if h.rests {
		return lookLongest
	}
	wait := min(lookFirst<<min(h.looks, 10), lookLongest)
	if ask := h.next.Sub(h.store.Now()); ask > 0 {
		wait = min(wait, ask)
	}
	return wait
}

// Gave tells whether rsync has been given an object as it is.
func (h *Handover) Gave(o bundle.Object) bool { return same(h.given, o) }

// Loses tells whether rsync has been given objects that are not among those
// that are wanted.
func (h *Handover) Loses(wanted func(bundle.ID) bool) bool {
	return slices.ContainsFunc(h.given, func(o bundle.Object) bool { return !wanted(o.ID) })
}
