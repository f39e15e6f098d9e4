package drains

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

// Keeper notes drains, and has external-dns outlive them.
type Keeper struct{ *state.Store }

// Note writes down which DNSEndpoints of an owner are about to go, so that their external-dns outlives the names that they published.
func (k *Keeper) Note(ctx context.Context, owner intent.Path, before, after bundle.Bundle) error {
	going := map[state.Use][]Drain{}
	for _, c := range bundle.Diff(before, after) {
		if c.Action == bundle.Delete && c.Before != nil {
			use := state.UseOf(owner, c.ID.Cluster, c.Before)
			going[use] = append(going[use], Drain{Endpoint: c.ID.Name, Targets: mostTargets(c.Before)})
		}
	}
	for _, use := range slices.SortedFunc(maps.Keys(going), state.CompareUses) {
		l, err := k.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return err
		}
		if l.MovedFrom(use) && !l.Moving {
			continue // its names were taken over
		}
		if err := For(k.Store, use).Note(snapshot.Now(ctx), going[use]); err != nil {
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

// Restart has the time of all drains of an external-dns begin anew, and tells whether there are any.
func (k *Keeper) Restart(ctx context.Context, use state.Use) (bool, error) {
	drains := For(k.Store, use)
	all, err := drains.All(ctx)
	if err != nil {
		return false, err
	}
	return len(all) > 0, drains.restart(ctx, all)
}

// look is one look at the drains of an external-dns.
type look struct {
	Drains
	use       state.Use
	record    plan.Record
	used      bool // it has users, so that it stays in any case
	abandoned bool // there is nothing to outlive
	now       time.Time
}

// over tells whether nobody waits for the names of a drain any more, answered or not. A suspended provider deletes nothing.
func (l *look) over(d Drain) bool {
	return l.abandoned || l.record.Spec.Suspend || l.now.Sub(d.Since) >= state.ReleaseTimeout(l.record, d.Targets)
}

// Look notes since when DNSEndpoints of an external-dns are gone, and which of them it has outlived long enough. It tells whether
// it is still to outlive some. Parameter used tells whether it has users.
func (k *Keeper) Look(ctx context.Context, use state.Use, record plan.Record, used bool) (left bool, err error) {
	l := look{Drains: For(k.Store, use), use: use, record: record, used: used, now: k.Now().UTC()}
	all, err := l.All(ctx)
	if err != nil || len(all) == 0 {
		return false, err
	}
	if l.abandoned, err = k.IsAbandoned(ctx, use.Cluster); err != nil {
		return true, err
	}
	var noted, gone []Drain
	for _, d := range all {
		if d.Since.IsZero() || d.Since.After(l.now) { // by another clock, for whose difference nobody waits
			noted = append(noted, d)
		} else {
			gone = append(gone, d)
		}
	}
	begun, err := k.begin(ctx, &l, noted)
	if err != nil {
		return true, err
	}
	left, err = k.outlive(ctx, &l, append(gone, begun...))
	return left || len(begun) < len(noted), err
}

// begin has the time of drains begin whose DNSEndpoints are confirmed to be gone, and answers these.
func (k *Keeper) begin(ctx context.Context, l *look, noted []Drain) (begun []Drain, err error) {
	for some := range slices.Chunk(noted, kv.MaxOps) {
		var ids []bundle.ID
		for _, d := range some {
			ids = append(ids, bundle.EndpointID(l.use.Cluster, l.record.Project.Namespace, d.Endpoint))
		}
		there, err := k.Ledger.Entries(ctx, l.use.Cluster, ids)
		if err != nil {
			return begun, err
		}
		gone := slices.DeleteFunc(slices.Clone(some), func(d Drain) bool {
			return slices.ContainsFunc(there, func(e ledger.Entry) bool { return e.ID.Name == d.Endpoint })
		})
		part, err := l.begin(ctx, gone, l.now)
		begun = append(begun, part...)
		if err != nil {
			return begun, err
		}
	}
	return begun, nil
}

// outlive ends drains whose names no authoritative server answers any more, and those that are over. It tells whether some are left.
// While there are users, nobody waits for answers. Without users, nobody waits for those about later drains than the first ones that
// are left.
func (k *Keeper) outlive(ctx context.Context, l *look, gone []Drain) (left bool, err error) {
	asked := slices.DeleteFunc(slices.Clone(gone), func(d Drain) bool { return l.used && !l.over(d) })
	slices.SortStableFunc(asked, func(a, b Drain) int { return a.Since.Compare(b.Since) })
	for some := range slices.Chunk(asked, kv.MaxOps) {
		ended, err := k.heard(ctx, l, some)
		if err != nil {
			return true, err
		}
		all, err := l.end(ctx, ended, l.now)
		if err != nil || !all || len(ended) < len(some) {
			return true, err
		}
	}
	return len(asked) < len(gone), nil
}

// heard are the drains that are over, or whose names are gone from every authoritative server, with the names that are still there.
// Names that no server could be asked about are neither (I6).
func (k *Keeper) heard(ctx context.Context, l *look, gone []Drain) (ended []Drain, err error) {
	all, err := k.Observed.Answers(ctx, l.use.Cluster, l.record.Project.Namespace, endpointsOf(gone)...)
	if err != nil {
		return nil, err
	}
	for _, d := range gone {
		a, known := all[d.Endpoint]
		known = known && a.Revision > d.Noted
		if !l.over(d) && (!known || a.Gone.IsZero()) {
			continue
		}
		for _, n := range a.Names {
			if known && n.Verdict == string(verify.StillThere) {
				d.left = append(d.left, intent.Leftover{
					Name: n.Name, Type: n.Type, Record: l.record.Name, Reason: n.Message + " though nobody publishes the name any more",
				})
			}
		}
		ended = append(ended, d)
	}
	return ended, nil
}
