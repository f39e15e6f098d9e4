package cleanup

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Keeper notes cleanups, and ends them.
type Keeper struct{ *state.Store }

// NoteDeleted notes cleanups of the DNSEndpoints of an owner that are about to be deleted.
func (k *Keeper) NoteDeleted(ctx context.Context, owner intent.Path, before, after bundle.Bundle) error {
	deleted := map[state.Use][]Cleanup{}
	for _, c := range bundle.Diff(before, after) {
		if c.Action == bundle.Delete && c.Before != nil {
			use := state.UseOf(owner, c.ID.Cluster, c.Before)
			deleted[use] = append(deleted[use], Cleanup{Endpoint: c.ID.Name, Targets: mostTargets(c.Before)})
		}
	}
	for _, use := range slices.SortedFunc(maps.Keys(deleted), state.CompareUses) {
		l, err := k.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return err
		}
		if l.MovedFrom(use) && !l.Moving {
			continue // its names were taken over
		}
		if err := Of(k.Store, use).Note(snapshot.Now(ctx), deleted[use], k.Now()); err != nil {
			return err
		}
		k.WakeAt(use.Record, k.Now().Add(state.LookTogether))
	}
	return nil
}

// mostTargets is how many targets one name of a DNSEndpoint has at most.
func mostTargets(p *bundle.Published) int {
	names, counts := map[state.NameKey][]string{}, map[string]int{}
	state.CollectNames(p, names)
	most := 0
	for key, targets := range names {
		counts[key.Name] += len(targets)
		most = max(most, counts[key.Name])
	}
	return most
}

// Restart has all cleanups of an external-dns begin anew, and tells whether there are any.
func (k *Keeper) Restart(ctx context.Context, use state.Use) (bool, error) {
	cleanups := Of(k.Store, use)
	all, _, err := cleanups.All(ctx)
	if err != nil {
		return false, err
	}
	return len(all) > 0, cleanups.resetTimers(ctx, all)
}

// pass is one look at the cleanups of an external-dns.
type pass struct {
	Cleanups
	use       state.Use
	record    plan.Record
	used      bool // it has users, so that it runs on in any case
	abandoned bool // it runs no more
	now       time.Time
}

// deadline is when nobody waits for a cleanup any more.
func (p *pass) deadline(one Cleanup) time.Time {
	return one.GoneSince.Add(state.ReleaseTimeout(p.record, one.Targets))
}

// expired tells whether nobody waits for a cleanup any more. A suspended provider deletes nothing.
func (p *pass) expired(one Cleanup) bool {
	return p.abandoned || p.record.Spec.Suspend || !p.now.Before(p.deadline(one))
}

// Result is what Settle has found.
type Result struct {
	Left bool       // cleanups are left
	When kv.Compare // no cleanup was noted since
	Next time.Time  // when to look at those that are left, while the external-dns has users
}

// LookUsed is how often cleanups of an external-dns with users are looked at, at most. Nobody waits for them. If DNSEndpoints stay, looks
// at their cleanups become ever more seldom.
const LookUsed = time.Minute

// Settle starts the timers of cleanups whose DNSEndpoints are gone, and ends those that are done or expired.
// Parameter used tells whether the external-dns has users.
func (k *Keeper) Settle(ctx context.Context, use state.Use, record plan.Record, used bool) (Result, error) {
	p := pass{Cleanups: Of(k.Store, use), use: use, record: record, used: used, now: k.Now().UTC()}
	all, revision, err := p.All(ctx)
	r := Result{Left: len(all) > 0, When: p.noneSince(revision)}
	if err != nil || !r.Left {
		return r, err
	}
	if p.abandoned, err = k.IsAbandoned(ctx, use.Cluster); err != nil {
		return r, err
	}
	var waiting, started []Cleanup
	for _, one := range all {
		if one.GoneSince.IsZero() || one.GoneSince.After(p.now) { // by a clock that is ahead, for which nobody waits
			waiting = append(waiting, one)
		} else {
			started = append(started, one)
		}
	}
	now, err := k.start(ctx, &p, waiting)
	if err != nil {
		return r, err
	}
	started = append(started, now...)
	slices.SortStableFunc(started, func(a, b Cleanup) int { return p.deadline(a).Compare(p.deadline(b)) })
	left, err := k.endFinished(ctx, &p, started)
	var waits []time.Duration
	if len(left) > 0 {
		waits = append(waits, p.deadline(left[0]).Sub(p.now))
	}
	if len(now) < len(waiting) {
		last := slices.MaxFunc(waiting, func(a, b Cleanup) int { return a.NotedAt.Compare(b.NotedAt) })
		waits = append(waits, p.now.Sub(last.NotedAt))
	}
	if r.Left = len(waits) > 0; r.Left {
		r.Next = p.now.Add(max(LookUsed, slices.Min(waits)))
	}
	return r, err
}

// start starts the timers of cleanups whose DNSEndpoints are confirmed to be gone, and answers these.
func (k *Keeper) start(ctx context.Context, p *pass, waiting []Cleanup) (started []Cleanup, err error) {
	for some := range slices.Chunk(waiting, kv.MaxOps) {
		var ids []bundle.ID
		for _, one := range some {
			ids = append(ids, bundle.EndpointID(p.use.Cluster, p.record.Project.Namespace, one.Endpoint))
		}
		there, err := k.Ledger.Entries(ctx, p.use.Cluster, ids)
		if err != nil {
			return started, err
		}
		gone := slices.DeleteFunc(slices.Clone(some), func(one Cleanup) bool {
			return slices.ContainsFunc(there, func(e ledger.Entry) bool { return e.ID.Name == one.Endpoint })
		})
		part, err := p.startTimers(ctx, gone, p.now)
		started = append(started, part...)
		if err != nil {
			return started, err
		}
	}
	return started, nil
}

// endFinished ends the cleanups that are finished, of those that are ordered by their deadlines, and answers those that are left. It
// stops at the first page that has one of these. The time of the first is the earliest.
func (k *Keeper) endFinished(ctx context.Context, p *pass, started []Cleanup) (left []Cleanup, err error) {
	for len(started) > 0 {
		page := started[:min(len(started), kv.MaxOps)]
		finished, waiting, err := k.finished(ctx, p, page)
		if err != nil {
			return started, err
		}
		all, err := p.end(ctx, finished, p.now)
		if err != nil || !all {
			return started, err
		}
		if len(waiting) > 0 {
			return slices.Concat(waiting, started[len(page):]), nil
		}
		started = started[len(page):]
	}
	return nil, nil
}

// finished divides cleanups into those that have expired, or whose names no authoritative server answers, and the others. A server
// that cannot be reached proves nothing (I6). An external-dns with users runs on: its cleanups are only to expire, and leave nothing behind.
func (k *Keeper) finished(ctx context.Context, p *pass, started []Cleanup) (finished, waiting []Cleanup, err error) {
	if p.used {
		at := slices.IndexFunc(started, func(one Cleanup) bool { return !p.expired(one) })
		if at < 0 {
			at = len(started)
		}
		return started[:at], started[at:], nil
	}
	all, err := k.Observed.Answers(ctx, p.use.Cluster, p.record.Project.Namespace, endpointsOf(started)...)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range started {
		a, known := all[one.Endpoint]
		known = known && a.Revision > one.NotedRevision
		if !p.expired(one) && (!known || a.Gone.IsZero()) {
			waiting = append(waiting, one)
			continue
		}
		for _, n := range a.Names {
			if known && n.Verdict == string(verify.StillThere) {
				one.leftovers = append(one.leftovers, intent.Leftover{
					Name: n.Name, Type: n.Type, Record: p.record.Name, Reason: n.Message + " though nobody publishes the name any more",
				})
			}
		}
		finished = append(finished, one)
	}
	return finished, waiting, nil
}
