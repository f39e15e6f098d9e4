package handover

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Progress is how far rsync has come with a wanted object, as of the last step, with a
// message.
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

// was tells whether all that was before had been applied.
func (h *Handover) was() bool {
	return h.seen[h.record.Before].in("Instantiated", "Updating", "Updated", "UpdatedFailed")
}

// Settled tells whether nothing is left to do, as of the last step.
func (h *Handover) Settled() bool { return h.rests }

// Ready tells whether rsync has tried all that it was given, as of the last
// step.
func (h *Handover) Ready() bool { return h.seen[h.record.Context].ended() }

// Leads tells whether others wait for it: until rsync has tried all, or takes
// long.
func (h *Handover) Leads() bool {
	return !h.Ready() && !h.Empty() && h.now().Before(h.begun.Add(headstart))
}

// Reached tells whether the cluster answers rsync; known is false while rsync
// has not tried.
func (h *Handover) Reached() (reached, known bool) {
	return !h.waiting, h.waiting || h.Ready()
}

// LookAgain has the next step look again at work that seemed to rest.
func (h *Handover) LookAgain() { h.rests, h.looks = false, 0 }

// Reinstall has the next step have rsync apply everything again: it is not there
// any more, or not as it was.
func (h *Handover) Reinstall() { h.rests, h.again = false, true }

// Due is how long nothing has to be done, unless rsync does something.
func (h *Handover) Due() time.Duration {
	if h.rests {
		return lookLongest
	}
	wait := min(lookFirst<<min(h.looks, 10), lookLongest)
	if ask := h.next.Sub(h.now()); ask > 0 {
		wait = min(wait, ask)
	}
	return wait
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
