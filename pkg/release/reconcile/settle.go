package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// updateCompletion notes, once for each accepted action, that all of it has happened:
// every object was applied, or everything is gone. It answers whether nothing
// is left to wait for. Nothing has happened before the context is whole.
func (s *Reconciler) updateCompletion(ctx context.Context, group intent.Path, l state.Lifecycle, whole bool) (bool, error) {
	draining, err := s.stillDraining(ctx, l.Draining)
	if err != nil {
		return false, err
	}
	vacating, err := s.stillHolding(ctx, state.GroupOwner(group), l.RemovedClusters)
	if err != nil {
		return false, err
	}
	rid := !slices.Equal(draining, l.Draining) || len(vacating) < len(l.RemovedClusters)
	l.Draining = draining
	l.KeepRemovedClusters(vacating)
	completed := false
	if !l.Settled && whole {
		if completed, err = s.isComplete(ctx, group, l); err != nil {
			return false, err
		}
	}
	if completed {
		l.Complete(s.Now().UTC())
		if l.Wanted == intent.Terminate {
			if l.Leftovers, err = s.Providers.LastLeftovers(ctx, group); err != nil {
				return false, err
			}
		}
	}
	l.ReleaseOffers()
	shed := l.PendingRelease
	noted, err := s.settleNames(ctx, group, &l)
	if err != nil {
		return false, err
	}
	if completed || rid || noted {
		if _, err = s.Swap(ctx, group, l); err != nil {
			return false, err
		}
		if err := s.Ownership.DropFreed(ctx, l, shed); err != nil {
			return false, err
		}
	}
	cleared := len(l.PendingRelease) == 0 || !l.Cleared.IsZero()
	return l.Settled && cleared && len(l.Draining) == 0 && len(l.RemovedClusters) == 0 && len(l.Former) == 0, nil
}

// stillDraining are those of the providers that nobody uses and that are not
// gone yet, where their records live now. Of what is gone, the record is let go
// of.
func (s *Reconciler) stillDraining(ctx context.Context, draining []state.Use) ([]state.Use, error) {
	var out []state.Use
	for _, use := range draining {
		record, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return nil, err
		}
		use = record.Relocated(use)
		users, err := s.UsersOf(ctx, use)
		if err != nil {
			return nil, err
		}
		if len(users) > 0 || slices.Contains(out, use) {
			continue
		}
		gone, err := s.OwnerGone(ctx, use.Owner())
		if err != nil {
			return nil, err
		}
		if !gone || record.MovingIn(use.Scope) {
			out = append(out, use)
		} else if err := s.Providers.StepProvider(ctx, use); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stillHolding are those of the clusters that hold objects that the owner had
// there last.
func (s *Reconciler) stillHolding(ctx context.Context, owner appcontext.Owner, clusters []string) ([]string, error) {
	var out []string
	for _, cluster := range clusters {
		entries, _, err := s.Ledger.Cluster(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ledger.Of(entries, string(owner)), state.Awaited) {
			out = append(out, cluster)
		}
	}
	return out, nil
}

// isComplete says whether the wanted action has had its effect.
func (s *Reconciler) isComplete(ctx context.Context, group intent.Path, l state.Lifecycle) (bool, error) {
	if l.Deployed() {
		return s.applied(ctx, group, l)
	}
	gone, err := s.OwnerGone(ctx, state.GroupOwner(group))
	return gone && len(l.Draining) == 0 && len(l.RemovedClusters) == 0, err
}

// applied says whether every object of the group's context and of those of its
// providers has been applied as it is now.
func (s *Reconciler) applied(ctx context.Context, group intent.Path, l state.Lifecycle) (bool, error) {
	owners := []appcontext.Owner{state.GroupOwner(group)}
	for _, use := range l.Uses {
		owners = append(owners, use.Owner())
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
func (s *Reconciler) appliedOn(ctx context.Context, pointer appcontext.Pointer, cluster string) (bool, error) {
	if abandoned, err := s.IsAbandoned(ctx, cluster); abandoned || err != nil {
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

// applySuspension brings the suspension of a group, as its document says it now, to the
// group's pointer, and answers whether the group rests. What is to be
// terminated never does. While nobody can say, it is as it was.
func (s *Reconciler) applySuspension(ctx context.Context, group intent.Path, l state.Lifecycle, was appcontext.Pointer) (appcontext.Pointer, bool, error) {
	suspended, err := s.Suspended(ctx, group, l)
	if intent.CodeOf(err) == intent.Unavailable { // an orchestrator keeps the document, and does not answer
		suspended, err = was.Suspended, nil
	}
	if err != nil || was.ContextID == "" || was.Suspended == suspended {
		return was, suspended, err
	}
	was, err = s.Contexts.Suspend(ctx, was, suspended)
	return was, suspended, err
}

// WarnOfSuspension says what will wait, or not be published.
func WarnOfSuspension(d *resolve.Draft) {
	if d.In.Group.Spec.Suspend {
		d.Warn("the deployment intent group is suspended: what is accepted waits until its suspend is false")
	}
	for _, use := range d.Uses {
		if d.Records[use.Record.Name()].Frozen.Spec.Suspend {
			d.Warn("record %q is suspended: no name of it is published or removed until its suspend is false and it is updated", use.Record.Name())
		}
	}
}

// settleNames moves the names that the group takes over, and frees those that
// are gone. It answers whether it has noted something in the lifecycle.
func (s *Reconciler) settleNames(ctx context.Context, group intent.Path, l *state.Lifecycle) (noted bool, err error) {
	taken, err := s.takeNames(ctx, group, *l)
	if err != nil {
		return false, err
	}
	noted, err = s.Ownership.FreeNames(ctx, group, l)
	if err != nil {
		return false, err
	}
	if taken {
		l.Taking = ""
	}
	return taken || noted, nil
}
