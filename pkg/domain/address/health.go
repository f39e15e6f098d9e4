package address

import (
	"fmt"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Standing is what is known of a cluster as a whole.
type Standing struct {
	Drained          bool      // nothing of it is to be published
	UnreachableSince time.Time // UTC: since when its worker has seen for itself, without a break, that it cannot be reached; zero: it is reachable, or nobody knows
	SilentSince      time.Time // UTC: since when anybody has seen that it does not answer, with breaks maybe; takes nobody out, but keeps out who is
	Frozen           string    // why nobody is taken out for being unreachable; empty: they may be
}

// UnreachableAfter is for how long a cluster cannot be reached before its
// addresses do not count, unless an intent says otherwise.
const UnreachableAfter = 5 * time.Minute

// Freeze says why no cluster is removed from names for being unreachable; empty: clusters
// may be removed. It gets the number of unreachable clusters among those that somebody
// tries to reach. If most of them fail at once, Signpost assumes a fault of its own
// network.
func Freeze(unreachable, tried int) string {
	if unreachable < 2 || 2*unreachable <= tried {
		return ""
	}
	return fmt.Sprintf("%d of %d clusters cannot be reached, so Signpost assumes a fault of its own network and keeps all addresses until that ends", unreachable, tried)
}

// examine finds out which of the offers of a source count.
func (f *fold) examine(s *source, offers []entry) {
	if f.Health == nil || len(offers) == 0 {
		return
	}
	ill, detail := f.examineSource(s, offers)
	for n := range offers {
		e := &offers[n]
		if e.ill, e.detail = ill, detail; ill == "" {
			e.ill, e.detail = f.examineProbes(*e)
		}
	}
}

// examineSource finds out why a source does not count; empty: it does.
func (f *fold) examineSource(s *source, offers []entry) (ill code, detail string) {
	r := s.Observation.Readiness
	if asks := f.Health.ReadyEndpoints; (asks == nil || *asks) && r != nil && r.Ready == 0 {
		return notReady, since(r.Since)
	}
	if f.Rule.Scope == intent.Public { // who asks for a name of cluster scope is in the cluster
		return f.examineCluster(s, offers)
	}
	return "", ""
}

// examineCluster finds out whether the cluster of a source counts. If the cluster must
// not be removed, clusters that are out stay out until they answer.
func (f *fold) examineCluster(s *source, offers []entry) (ill code, detail string) {
	at, limit := s.Standing, f.patience()
	overdue := func(since time.Time) bool { return !since.IsZero() && !f.Now.Before(since.Add(limit)) }
	lost, silent := overdue(at.UnreachableSince), overdue(at.SilentSince)
	if due := at.UnreachableSince.Add(limit); !lost && !at.UnreachableSince.IsZero() && (f.due.IsZero() || due.Before(f.due)) {
		f.due = due
	}
	if lost && at.Frozen != "" {
		f.say(at.Frozen)
	}
	if lost && at.Frozen == "" || (lost || silent) && !slices.ContainsFunc(offers, f.stands) {
		return unreachable, since(earlier(at.SilentSince, at.UnreachableSince)) + ", which is longer than " + limit.String()
	}
	return "", ""
}

// earlier is the first of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// patience is for how long a cluster may be unreachable.
func (f *fold) patience() time.Duration {
	limit, err := time.ParseDuration(f.Health.UnreachableAfter)
	if err != nil || limit <= 0 {
		return UnreachableAfter
	}
	return limit
}

func since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " since " + at.UTC().Format(time.RFC3339)
}

// stands tells whether a candidate, or an address of a host name, is published
// now.
func (f *fold) stands(e entry) bool {
	return f.before("", e.target) || slices.ContainsFunc(e.Resolved, func(ip string) bool { return f.before("", ip) })
}

// decide routes the healthy entries. If there are none and the names are to be kept, it
// routes the published addresses that still exist, or if there are none, all. A name that
// has never been healthy is not published. Probes alone never leave a name without an
// address.
func (f *fold) decide() outcome {
	well, ill := parted(f.offered)
	out := f.route(well)
	if out.some() || len(ill) == 0 {
		f.leaveOut(&out, ill)
		return f.hold(out)
	}
	may := ill
	if f.Health.WhenAllUnhealthy == intent.Remove || len(f.Previous) == 0 {
		may = slices.DeleteFunc(slices.Clone(ill), func(e entry) bool { return e.ill != probeFailed })
	}
	if len(may) == 0 {
		f.say(f.nothing())
		f.leaveOut(&out, ill)
		return f.hold(out)
	}
	f.choice.Ill = true
	return f.keep(out, ill, may)
}

// keep routes the entries that may stay although none is healthy: those that are
// published, or if there are none, all. The outcome of the healthy ones is out.
func (f *fold) keep(out outcome, ill, may []entry) outcome {
	mayNot := func(e entry) bool { return e.ill != "" && !slices.ContainsFunc(may, e.is) }
	pool := slices.DeleteFunc(slices.Clone(f.offered), mayNot)
	kept := f.route(slices.DeleteFunc(slices.Clone(pool), func(e entry) bool { return !f.stands(e) }))
	if !kept.some() {
		f.say("no cluster is healthy, and no published address exists any more: all addresses count")
		all := f.route(pool)
		f.leaveOut(&all, slices.DeleteFunc(ill, func(e entry) bool { return !mayNot(e) }))
		return f.hold(all)
	}
	f.say("no cluster is healthy: published addresses that still exist stay")
	kept.rejected = append(kept.rejected, out.rejected...)
	f.leaveOut(&kept, slices.DeleteFunc(ill, func(e entry) bool { return f.stands(e) && !mayNot(e) }))
	return kept
}

// is tells whether two entries are of the same candidate.
func (e entry) is(other entry) bool { return e.Candidate == other.Candidate }

// parted tells what counts from what does not.
func parted(all []entry) (well, ill []entry) {
	isIll := func(e entry) bool { return e.ill != "" }
	if !slices.ContainsFunc(all, isIll) {
		return all, nil
	}
	for _, e := range all {
		if isIll(e) {
			ill = append(ill, e)
		} else {
			well = append(well, e)
		}
	}
	return well, ill
}

// nothing says why nothing is published though something is offered.
func (f *fold) nothing() string {
	if f.Health.WhenAllUnhealthy == intent.Remove {
		return "no cluster is healthy: nothing is published, because whenAllUnhealthy is remove"
	}
	return "no cluster is healthy, and nothing is published yet; the name is published when a cluster is healthy"
}

// leaveOut rejects what does not count.
func (f *fold) leaveOut(o *outcome, ill []entry) {
	for _, e := range ill {
		o.reject(e, e.ill, e.detail)
		f.say(e.subject() + " is left out: " + e.ill.reason(e.detail))
	}
}

func (f *fold) say(sentence string) { f.choice.Health = append(f.choice.Health, sentence) }
