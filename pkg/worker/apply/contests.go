package apply

import (
	"fmt"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// ContestLimit is how many times an object is put back, within ContestWithin, against
// somebody who changes it again and again. Then the object stays as it is until the
// first of these is so long ago. Otherwise two controllers would undo each other for
// ever.
const (
	ContestLimit  = 3
	ContestWithin = 10 * time.Minute
)

// contests know who has changed which objects that were put back since.
type contests map[bundle.ID]contest

type contest struct {
	manager string
	digest  string      // of what was wanted; wanting something else is a new start
	times   []time.Time // of the repairs, the oldest first, ContestLimit at most
}

// until tells when an action may be done that puts back what somebody has changed:
// zero for now.
func (m contests) until(a action, now time.Time) time.Time {
	c := m[a.id]
	if !a.drift || a.live == nil || c.manager != a.live.ChangedBy || c.digest != digestOf(a.want) || len(c.times) < ContestLimit {
		return time.Time{}
	}
	if until := c.times[0].Add(ContestWithin); now.Before(until) {
		return until
	}
	return time.Time{}
}

// note remembers that an object was put back.
func (m contests) note(o outcome, now time.Time) {
	a := o.action
	switch {
	case o.gone:
		delete(m, a.id)
	case o.repaired && a.live != nil && a.live.ChangedBy != "":
		c := m[a.id]
		if c.manager != a.live.ChangedBy || c.digest != digestOf(a.want) {
			c = contest{manager: a.live.ChangedBy, digest: digestOf(a.want)}
		}
		c.times = append(c.times[max(0, len(c.times)-ContestLimit+1):], now)
		m[a.id] = c
	}
}

// contested notes that somebody changes an object again and again, and that it is
// left as it is for now.
func (o outcome) contested(until time.Time) outcome {
	o.conflict, o.until = true, until
	o.entry.Status = ledger.Failed
	o.entry.Message = fmt.Sprintf("conflict: %q changed it again each of the %d times that it was put back within %s; it is left as it is until %s. Stop what changes it, or terminate what Signpost has here",
		o.action.live.ChangedBy, ContestLimit, ContestWithin, until.UTC().Format(time.RFC3339))
	return o
}
