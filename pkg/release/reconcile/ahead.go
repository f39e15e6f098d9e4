package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// readAtOnce has a step of a name read everything as it is at one time, until it writes.
// Steps of groups read what they need when they need it.
func (s *Reconciler) readAtOnce(ctx context.Context, group intent.Path) (_ context.Context, end func(), err error) {
	if !intent.IsName(group) {
		return ctx, func() {}, nil
	}
	return ahead.Begin(ctx, s.Store, ahead.Reads{Documents: []intent.Path{state.LifecyclePath(group)}, Keys: appcontext.Keys(state.GroupOwner(group))})
}

// readAhead reads in one request what the context of a deployed name follows from, unless that was read for several
// names. If its release is not there, the reconcilers say so.
func (s *Reconciler) readAhead(ctx context.Context, on *step) (learn func(), err error) {
	if !intent.IsName(on.group) || !on.lifecycle.Deployed() {
		return func() {}, nil
	}
	release, err := s.LoadRelease(ctx, on.lifecycle.ContextID)
	if err != nil {
		return func() {}, nil //nolint:nilerr // the reconcilers read it again
	}
	kind, reads := needed(on.lifecycle, on.pointer, release)
	return ahead.ReadAs(ctx, s.Store, kind, on.group, reads)
}

// needed is what the context of a deployed name follows from. Names of a kind have the rest in common.
func needed(l state.Lifecycle, is appcontext.Pointer, release state.Release) (kind string, reads ahead.Reads) {
	kind = "first step"
	if is.ContextID == l.ContextID {
		kind = "step"
	}
	group := state.WithFormer(l.Placed(release.Group), l.Former)
	for _, b := range group.Bindings {
		kind += " " + string(state.RecordPath(group, b)) + " " + b.Cluster
	}
	reads = render.Needed(group)
	reads.Prefixes = append(reads.Prefixes, is.Resources()...)
	return kind, reads
}

// providersThere tells whether the external-dns that a name relies on are in their homes,
// and nothing about them is under way but a move. A name that comes or goes changes no external-dns, and
// all else about a provider wakes the provider. A step that takes an external-dns away looks
// for users after that, and finds this name (see providers).
func (s *Reconciler) providersThere(ctx context.Context, on *step) (bool, error) {
	if !intent.IsName(on.group) {
		return false, nil
	}
	for _, use := range on.lifecycle.Uses {
		pointer, err := s.Contexts.Current(ctx, use.Owner())
		if err != nil || pointer.ContextID == "" {
			return false, err
		}
		record, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil || !record.AtRest() && !record.MovingIn(use.Scope) {
			return false, err
		}
	}
	return true, nil
}
