package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// draining ends the providers that nobody uses, and forgets those that are gone. A
// provider that the group has just left is kept by it until that is stored.
func (s *Reconciler) draining(ctx context.Context, on *step) (state.Outcome, error) {
	var left []state.Use
	for _, use := range on.lifecycle.Draining {
		if !slices.Contains(on.read.Draining, use) {
			left = append(left, use)
			continue
		}
		use, gone, err := s.endProvider(ctx, use)
		if err != nil {
			return state.Onward, err
		}
		if !gone && !slices.Contains(left, use) {
			left = append(left, use)
		}
	}
	on.lifecycle.Draining = left
	return state.Onward, nil
}

// endProvider has a provider end that the group has left, and answers the use where its record lives now. The provider counts as
// gone if others use it.
func (s *Reconciler) endProvider(ctx context.Context, former state.Use) (use state.Use, gone bool, err error) {
	now := snapshot.Now(ctx) // the other users may have left since the step began
	record, err := s.RecordLifecycle(now, former.Record)
	if err != nil {
		return former, false, err
	}
	use = record.Relocated(former)
	users, _, err := s.FirstUsers(now, use)
	if err != nil {
		return use, false, err
	}
	if len(users) > 0 {
		return use, true, nil
	}
	if !record.MovingIn(use.Scope) {
		gone, err = s.OwnerGone(now, use.Owner())
	}
	switch {
	case err != nil:
		return use, false, err
	case gone: // the record is free before the group says that it is done
		return use, true, s.Providers.StepProvider(ctx, former)
	}
	s.WakeAt(use.Record, s.Now().Add(state.LookTogether)) // very many may leave it at once
	return use, false, nil
}

// removedClusters forgets clusters that hold nothing of the group any more.
func (s *Reconciler) removedClusters(ctx context.Context, on *step) (state.Outcome, error) {
	var held []string
	for _, cluster := range on.lifecycle.RemovedClusters {
		entries, err := heldIn(ctx, s.Store, on, cluster)
		if err != nil {
			return state.Onward, err
		}
		if slices.ContainsFunc(ledger.Of(entries, string(on.group)), state.Awaited) {
			held = append(held, cluster)
		}
	}
	on.lifecycle.KeepRemovedClusters(held)
	return state.Onward, nil
}

// heldIn answers ledger entries of a cluster, among them all of the owner. Entries of a name are found by the beginning of their own
// names, because a cluster may have very many others.
func heldIn(ctx context.Context, s *state.Store, on *step, cluster string) ([]ledger.Entry, error) {
	if !intent.IsName(on.group) {
		return s.Ledger.Cluster(ctx, cluster)
	}
	release, err := s.LoadRelease(ctx, on.lifecycle.ContextID)
	if err != nil {
		return nil, err
	}
	return s.Ledger.Beginning(ctx, bundle.EndpointID(cluster, release.Group.Project.Namespace, endpoints.Beginning(release.Group)))
}

// completion notes, once for each accepted action, that all of it has happened:
// every object was applied, or everything is gone. Nothing has happened before the
// context is whole.
func (s *Reconciler) completion(ctx context.Context, on *step) (state.Outcome, error) {
	l := &on.lifecycle
	complete, err := s.isComplete(ctx, on)
	if err != nil {
		return state.Onward, err
	}
	if complete {
		l.Complete(s.Now().UTC())
		if l.Wanted == intent.Terminate { // a record may have been suspended while its external-dns was to delete names
			l.Leftovers, err = s.Cleanups.Leftovers(ctx, on.group, on.pointer)
		}
	}
	l.ReleaseOffers()
	return state.Onward, err
}

// freedNames frees the names that are gone, and says whether anything is left to
// wait for.
func (s *Reconciler) freedNames(ctx context.Context, on *step) (state.Outcome, error) {
	l := &on.lifecycle
	if err := s.Ownership.FreeNames(ctx, on.group, l); err != nil {
		return state.Again, err
	}
	cleared := len(l.PendingRelease) == 0 || !l.Cleared.IsZero()
	if l.Settled && cleared && len(l.Draining)+len(l.RemovedClusters)+len(l.Former) == 0 && !on.wrote && !on.handing {
		return state.AtRest, nil
	}
	return state.Again, nil
}

// isComplete says whether the wanted action has just had its effect.
func (s *Reconciler) isComplete(ctx context.Context, on *step) (bool, error) {
	l := &on.lifecycle
	switch {
	case l.Settled || on.next.Undecided:
		return false, nil
	case l.Deployed():
		return s.applied(ctx, on)
	case len(l.Draining)+len(l.RemovedClusters) > 0:
		return false, nil
	}
	left, err := s.Left(ctx, on.pointer)
	return !left, err
}

// applied says whether every object of the group's context and of those of its
// providers has been applied as it is now.
func (s *Reconciler) applied(ctx context.Context, on *step) (bool, error) {
	if on.wrote && len(on.next.Objects) > 0 {
		return false, nil // it has only just been written
	}
	objects := on.before
	if on.wrote {
		objects = nil
	}
	if ok, err := s.appliedBundle(ctx, on.pointer, objects); err != nil || !ok {
		return false, err
	}
	for _, use := range on.lifecycle.Uses {
		pointer, err := s.Contexts.Current(ctx, use.Owner())
		if err == nil && pointer.ContextID == "" { // a step may have died that took it away when nobody used it
			s.WakeAt(use.Record, s.Now().Add(state.LookTogether))
		}
		if err != nil || pointer.ContextID == "" {
			return false, err
		}
		objects, err := s.Contexts.Objects(ctx, pointer)
		if err != nil {
			return false, err
		}
		if ok, err := s.appliedBundle(ctx, pointer, objects); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// appliedBundle says whether all objects of an owner's context have been applied.
func (s *Reconciler) appliedBundle(ctx context.Context, pointer appcontext.Pointer, objects bundle.Bundle) (bool, error) {
	for _, cluster := range slices.Sorted(maps.Keys(pointer.Clusters)) {
		if ok, err := s.appliedOn(ctx, pointer, cluster, objectsOn(objects, cluster)); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func objectsOn(objects bundle.Bundle, cluster string) bundle.Bundle {
	var out bundle.Bundle
	for _, o := range objects {
		if o.Cluster == cluster {
			out = append(out, o)
		}
	}
	return out
}

// appliedOn tells whether a cluster has all wanted objects as they are now. Nobody waits for an abandoned cluster.
func (s *Reconciler) appliedOn(ctx context.Context, pointer appcontext.Pointer, cluster string, wanted bundle.Bundle) (bool, error) {
	entries, err := s.Ledger.Entries(ctx, cluster, wanted.IDs())
	if err != nil {
		return false, err
	}
	if len(entries) == 0 && len(wanted) > 0 {
		return s.IsAbandoned(ctx, cluster) // of which there are no entries
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
