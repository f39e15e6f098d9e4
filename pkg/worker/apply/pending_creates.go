package apply

import (
	"maps"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// LandsWithin is how long a creation may still take effect that nobody waits for any
// more, counted while the cluster answers. A cluster may read requests of an outage
// together with the first one after it.
const LandsWithin = 15 * time.Second

// pendingCreates are the objects whose creation may be under way unanswered, whether
// this worker or an earlier one asked for it. Each has the time from which on that
// counts. Such an object is not gone because it is absent: nobody would remove it when
// it came.
//
// Other requests need no doubt: they name the UID of what they change.
type pendingCreates map[bundle.ID]time.Time

// inherit takes up what a predecessor was at when it ended, or gave up.
func (d pendingCreates) inherit(entries map[bundle.ID]ledger.Entry, now time.Time) {
	for id, e := range entries {
		if e.Status == ledger.Pending || e.Status == ledger.Retrying {
			d[id] = now
		}
	}
}

// note takes up what became of an action.
func (d pendingCreates) note(o outcome, now time.Time) {
	switch {
	case o.gone:
		delete(d, o.action.id)
	case o.silent && o.action.want != nil:
		d[o.action.id] = now
	}
}

// answers takes up that the cluster answers, and whether it has come back.
func (d pendingCreates) answers(back bool, now time.Time) {
	if back {
		for id := range d {
			d[id] = now
		}
	}
	maps.DeleteFunc(d, func(_ bundle.ID, since time.Time) bool { return !now.Before(since.Add(LandsWithin)) })
}

// holds tells whether an object that is absent may still come to be.
func (d pendingCreates) holds(id bundle.ID, now time.Time) bool {
	since, mayStillCome := d[id]
	return mayStillCome && now.Before(since.Add(LandsWithin))
}
