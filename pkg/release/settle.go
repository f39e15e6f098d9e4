package release

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
)

// settle notes, once for each accepted action, that all of it has happened:
// every object was applied, or everything is gone. It answers whether nothing
// is left to wait for. Nothing has happened before the context is whole.
func (s *Service) settle(ctx context.Context, group intent.Path, l Lifecycle, whole bool) (bool, error) {
	draining, err := s.stillDraining(ctx, l.Draining)
	if err != nil {
		return false, err
	}
	vacating, err := s.stillHolding(ctx, groupOwner(group), l.Vacating)
	if err != nil {
		return false, err
	}
	rid := !slices.Equal(draining, l.Draining) || len(vacating) < len(l.Vacating)
	l.Draining = draining
	l.keepVacating(vacating)
	completed := false
	if !l.Settled && whole {
		if completed, err = s.happened(ctx, group, l); err != nil {
			return false, err
		}
	}
	if completed {
		l.complete(s.Now().UTC())
		if l.Wanted == intent.Terminate {
			if l.Leftovers, err = s.lastLeftovers(ctx, group); err != nil {
				return false, err
			}
		}
	}
	l.releaseOffers()
	shed := l.Shed
	noted, err := s.settleNames(ctx, group, &l)
	if err != nil {
		return false, err
	}
	if completed || rid || noted {
		if _, err = s.swap(ctx, group, l); err != nil {
			return false, err
		}
		if err := s.dropFreed(ctx, l, shed); err != nil {
			return false, err
		}
	}
	cleared := len(l.Shed) == 0 || !l.Cleared.IsZero()
	return l.Settled && cleared && len(l.Draining) == 0 && len(l.Vacating) == 0 && len(l.Former) == 0, nil
}

// keepVacating lets go of the clusters that hold nothing of the group any more.
func (l *Lifecycle) keepVacating(clusters []string) {
	for _, cluster := range l.Vacating {
		if ref, _ := intent.ParseCluster(cluster); !slices.Contains(clusters, cluster) {
			l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), func(p intent.Path) bool { return p == ref.Path() })
		}
	}
	l.Vacating = clusters
}

func (l *Lifecycle) complete(now time.Time) {
	l.Settled, l.Done, l.Cleared = true, now, time.Time{}
	if l.Wanted == intent.Terminate {
		l.Refs = nil
	}
	l.record(intent.Event{Time: now, Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "completed"})
}

// stillDraining are those of the providers that nobody uses and that are not
// gone yet, where their records live now. Of what is gone, the record is let go
// of.
func (s *Service) stillDraining(ctx context.Context, draining []Use) ([]Use, error) {
	var out []Use
	for _, use := range draining {
		record, err := s.recordLifecycle(ctx, use.Record)
		if err != nil {
			return nil, err
		}
		use = record.rehomed(use)
		users, err := s.users(ctx, use)
		if err != nil {
			return nil, err
		}
		if len(users) > 0 || slices.Contains(out, use) {
			continue
		}
		gone, err := s.ownerGone(ctx, use.owner())
		if err != nil {
			return nil, err
		}
		if !gone || record.moving(use.Scope) {
			out = append(out, use)
		} else if err := s.StepProvider(ctx, use); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stillHolding are those of the clusters that hold objects that the owner had
// there last.
func (s *Service) stillHolding(ctx context.Context, owner appcontext.Owner, clusters []string) ([]string, error) {
	var out []string
	for _, cluster := range clusters {
		entries, _, err := s.Ledger.Cluster(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ledger.Of(entries, string(owner)), awaited) {
			out = append(out, cluster)
		}
	}
	return out, nil
}

// happened says whether the wanted action has had its effect.
func (s *Service) happened(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if l.deployed() {
		return s.applied(ctx, group, l)
	}
	gone, err := s.ownerGone(ctx, groupOwner(group))
	return gone && len(l.Draining) == 0 && len(l.Vacating) == 0, err
}

// ownerGone says whether an owner has no context and nothing left of one.
func (s *Service) ownerGone(ctx context.Context, owner appcontext.Owner) (bool, error) {
	pointer, err := s.Contexts.Current(ctx, owner)
	if err != nil || pointer.ContextID != "" {
		return false, err
	}
	left, err := s.left(ctx, pointer)
	return !left, err
}

// applied says whether every object of the group's context and of those of its
// providers has been applied as it is now.
func (s *Service) applied(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	owners := []appcontext.Owner{groupOwner(group)}
	for _, use := range l.Uses {
		owners = append(owners, use.owner())
	}
	for _, owner := range owners {
		pointer, err := s.Contexts.Current(ctx, owner)
		if err != nil || pointer.ContextID == "" {
			return false, err
		}
		for _, cluster := range slices.Sorted(maps.Keys(pointer.Clusters)) {
			if ok, err := s.appliedOn(ctx, pointer, cluster); err != nil || !ok {
				return false, err
			}
		}
	}
	return true, nil
}

// appliedOn is so of an abandoned cluster, too: nobody waits for it.
func (s *Service) appliedOn(ctx context.Context, pointer appcontext.Pointer, cluster string) (bool, error) {
	if abandoned, err := s.abandoned(ctx, cluster); abandoned || err != nil {
		return abandoned, err
	}
	wanted, _, err := s.Contexts.ObjectsOn(ctx, pointer, cluster)
	if err != nil {
		return false, err
	}
	entries, _, err := s.Ledger.Cluster(ctx, cluster)
	if err != nil {
		return false, err
	}
	applied := map[bundle.ID]ledger.Entry{}
	for _, e := range entries {
		applied[e.ID] = e
	}
	for _, o := range wanted {
		entry, known := applied[o.ID]
		if progress, _ := entry.Progress(string(pointer.Owner), o.Digest()); !known || progress != ledger.Applied {
			return false, nil
		}
	}
	return true, nil
}
