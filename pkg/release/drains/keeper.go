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
		if err := Of(k.Store, use).Note(snapshot.Now(ctx), going[use]); err != nil {
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
	drains := Of(k.Store, use)
	all, err := drains.All(ctx)
	if err != nil {
		return false, err
	}
	waiting := slices.DeleteFunc(all, func(d Drain) bool { return !d.Over.IsZero() })
	begun := slices.DeleteFunc(slices.Clone(waiting), func(d Drain) bool { return d.Since.IsZero() })
	return len(waiting) > 0, drains.begin(ctx, begun, time.Time{})
}

// Look is one look at the drains of an external-dns.
type Look struct {
	Use    state.Use
	Record plan.Record
	Used   bool // it has users, so that it stays in any case

	drains Drains
	now    time.Time
}

// leftKept is how long it is remembered which names a DNSEndpoint has left behind. The owner whose it was reads that within seconds.
const leftKept = time.Hour

// Look notes since when DNSEndpoints of an external-dns are gone, and which of them it has outlived long enough. It tells whether
// it is still to outlive some.
func (k *Keeper) Look(ctx context.Context, at Look) (left bool, err error) {
	at.drains, at.now = Of(k.Store, at.Use), k.Now().UTC()
	all, err := at.drains.All(ctx)
	if err != nil || len(all) == 0 {
		return false, err
	}
	var noted, gone, told []Drain
	for _, d := range all {
		switch {
		case d.Since.IsZero() || d.Since.After(at.now): // by another clock, for whose difference nobody waits
			noted = append(noted, d)
		case d.Over.IsZero():
			gone = append(gone, d)
		case at.now.Sub(d.Over) > leftKept:
			told = append(told, d)
		}
	}
	if left, err = k.outlive(ctx, &at, gone); err != nil {
		return true, err
	}
	if err := k.begin(ctx, &at, noted); err != nil {
		return true, err
	}
	return left || len(noted) > 0, at.drains.forget(ctx, told)
}

// begin has the time of drains begin whose DNSEndpoints are confirmed to be gone. While a home does not answer, very many may be
// there: it looks no further than the first ones.
func (k *Keeper) begin(ctx context.Context, at *Look, noted []Drain) error {
	for some := range slices.Chunk(noted, kv.MaxOps) {
		var ids []bundle.ID
		for _, d := range some {
			ids = append(ids, bundle.EndpointID(at.Use.Cluster, at.Record.Project.Namespace, d.Endpoint))
		}
		there, err := k.Ledger.Entries(ctx, at.Use.Cluster, ids)
		if err != nil {
			return err
		}
		gone := slices.DeleteFunc(slices.Clone(some), func(d Drain) bool {
			return slices.ContainsFunc(there, func(e ledger.Entry) bool { return e.ID.Name == d.Endpoint })
		})
		if len(gone) == 0 {
			return nil
		}
		if err := at.drains.begin(ctx, gone, at.now); err != nil {
			return err
		}
	}
	return nil
}

// outlive ends drains that an external-dns has outlived, and tells whether some are left. These are drains whose names no
// authoritative server answers any more, or whose releaseTimeout is over. On an abandoned cluster there is nothing to outlive, and
// a suspended provider deletes nothing. While there are users, nobody waits for answers. Without users, nobody waits for those about
// later drains than the first ones that are left.
func (k *Keeper) outlive(ctx context.Context, at *Look, gone []Drain) (left bool, err error) {
	abandoned, err := k.IsAbandoned(ctx, at.Use.Cluster)
	if err != nil {
		return false, err
	}
	over := func(d Drain) bool {
		return abandoned || at.Record.Spec.Suspend || at.now.Sub(d.Since) >= state.ReleaseTimeout(at.Record, d.Targets)
	}
	asked := slices.DeleteFunc(slices.Clone(gone), func(d Drain) bool { return at.Used && !over(d) })
	slices.SortStableFunc(asked, func(a, b Drain) int { return a.Since.Compare(b.Since) })
	for some := range slices.Chunk(asked, kv.MaxOps) {
		ended, err := k.heard(ctx, at, some, over)
		if err != nil {
			return true, err
		}
		all, err := at.drains.end(ctx, ended, at.now)
		if err != nil || !all || len(ended) < len(some) {
			return true, err
		}
	}
	return len(asked) < len(gone), nil
}

// heard are the drains that are over, or whose names are gone from every authoritative server, with the names that are still there.
// Names that no server could be asked about are neither (I6).
func (k *Keeper) heard(ctx context.Context, at *Look, gone []Drain, over func(Drain) bool) (ended []Drain, err error) {
	all, err := k.Observed.Answers(ctx, at.Use.Cluster, at.Record.Project.Namespace, endpointsOf(gone)...)
	if err != nil {
		return nil, err
	}
	for _, d := range gone {
		a, known := all[d.Endpoint]
		known = known && a.Revision > d.Noted
		if !over(d) && (!known || a.Gone.IsZero()) {
			continue
		}
		for _, n := range a.Names {
			if known && n.Verdict == string(verify.StillThere) {
				d.Left = append(d.Left, intent.Leftover{
					Name: n.Name, Type: n.Type, Record: at.Record.Name, Reason: n.Message + " though nobody publishes the name any more",
				})
			}
		}
		ended = append(ended, d)
	}
	return ended, nil
}
