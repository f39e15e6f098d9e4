package apply

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// How long an object rests before the next attempt: from the first to the
// longest, doubling.
const (
	conflictRest  = 10 * time.Second
	servedFirst   = 100 * time.Millisecond
	servedLongest = 5 * time.Second
	silentFirst   = 250 * time.Millisecond
	silentLongest = 10 * time.Second
	refuseFirst   = time.Second
	refuseLongest = 30 * time.Second
	waitFirst     = time.Second
	waitLongest   = 30 * time.Second
	repairFirst   = 100 * time.Millisecond
	repairLongest = 30 * time.Second
	repairCalm    = time.Minute // after which a repair counts as the first again
)

// attempt is the history of an object that did not come to rest.
type attempt struct {
	count  int
	last   time.Time
	until  time.Time // not before
	digest string    // of what was wanted; wanting something else is a new start
}

// attempts knows which objects rest.
type attempts map[bundle.ID]attempt

func digestOf(w *state.Wanted) string {
	if w == nil {
		return ""
	}
	return w.Digest
}

// due tells whether the action may be done, and otherwise from when on.
func (m attempts) due(a action, now time.Time) (bool, time.Time) {
	rest, ok := m[a.id]
	if !ok || rest.digest != digestOf(a.want) || !now.Before(rest.until) {
		return true, time.Time{}
	}
	return false, rest.until
}

// note remembers an outcome.
func (m attempts) note(o outcome, now time.Time) {
	id, digest := o.action.id, digestOf(o.action.want)
	before := m[id]
	if before.digest != digest {
		before = attempt{}
	}
	rest := func(first, longest time.Duration) {
		m[id] = attempt{count: before.count + 1, last: now, digest: digest, until: now.Add(pace.Backoff(first, longest, before.count))}
	}
	switch {
	case o.gone:
		delete(m, id)
	case !o.until.IsZero():
		m[id] = attempt{count: before.count + 1, last: now, digest: digest, until: o.until}
	case o.conflict:
		rest(conflictRest, conflictRest)
	case o.fault == cluster.NotServed, o.fault == cluster.NoNamespace, o.fault == fault.Stale:
		rest(servedFirst, servedLongest)
	case o.fault == fault.Refused:
		rest(refuseFirst, refuseLongest)
	case o.fault != "":
		rest(silentFirst, silentLongest)
	case o.waiting:
		rest(waitFirst, waitLongest)
	case o.repaired:
		if now.Sub(before.last) > repairCalm {
			before.count = 0
		}
		rest(repairFirst, repairLongest)
	case !o.action.drift:
		delete(m, id)
	}
}
