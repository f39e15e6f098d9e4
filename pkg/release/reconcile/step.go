package reconcile

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// step is one look at a group. Its reconcilers change the copy of the lifecycle.
type step struct {
	group     intent.Path
	read      state.Lifecycle
	lifecycle state.Lifecycle    // the copy
	pointer   appcontext.Pointer // of the group's context: as it was read, then as it was written

	before  bundle.Bundle  // the objects of the context that was read
	next    render.Desired // the context as it is to be
	handing bool           // the DNSEndpoint of a provider that the name leaves stays until the new one publishes
	later   bool           // the name has other clusters to follow once it is in those of now
	wrote   bool           // the context was changed, by what was observed before: something newer may have come meanwhile
}

// reconcilers are the parts of a step, in their order.
func (s *Reconciler) reconcilers() []state.Reconciler[step] {
	return []state.Reconciler[step]{
		{Name: "offers", Reconcile: s.offers},
		{Name: "suspension", Reconcile: s.suspension},
		{Name: "former homes", Reconcile: s.formerHomes}, // before the move, which ends where they are gone
		{Name: "moves", Reconcile: s.moves},              // stored before anything is put into the new home
		{Name: "providers", Reconcile: s.providers, Release: true},
		{Name: "contents", Reconcile: s.contents, Release: true},
		{Name: "handover", Reconcile: s.handover, Release: true}, // before the context leaves a provider
		{Name: "claims", Reconcile: s.claims, Release: true},     // before anything is published
		{Name: "drains", Reconcile: s.drains, Release: true},     // before a DNSEndpoint goes
		{Name: "retained", Reconcile: s.retained, Release: true}, // before a name loses its last address
		{Name: "context", Reconcile: s.context, Release: true},
		{Name: "drained clusters", Reconcile: s.drainedClusters}, // when their addresses are out, or in again
		{Name: "fail-safe", Reconcile: s.failSafe},
		{Name: "leaving", Reconcile: s.leaving}, // when the context relies on them no longer
		{Name: "draining", Reconcile: s.draining},
		{Name: "removed clusters", Reconcile: s.removedClusters},
		{Name: "completion", Reconcile: s.completion},
		{Name: "takeover", Reconcile: s.takeover},
		{Name: "freed names", Reconcile: s.freedNames}, // when they are gone
	}
}

// StepGroup brings a group's app context to what its release and the clusters'
// observations say, then its providers. It notes when all of it has been
// applied, and reports whether nothing is left to wait for. It may be called
// at any time, by several replicas at once. The error of a lost race has the
// code appcontext.ErrStale: the caller calls again.
func (s *Reconciler) StepGroup(ctx context.Context, group intent.Path) (settled bool, err error) {
	ctx, end, err := s.readAtOnce(ctx, group)
	defer end()
	if err != nil {
		return false, err
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(group)) // first: what is read after it is at least as new
	if err != nil {
		return false, err
	}
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return false, err
	}
	s.Wakeups.Expect(group, l.Revision)
	if err := intent.CheckSchema("the release of "+string(group), l.Schema); err != nil {
		return false, err
	}
	if len(l.Prepared) > 0 {
		s.Follower.LookAfter(group)
	}
	on := &step{group: group, read: l, lifecycle: l, pointer: pointer}
	if accepted, err := on.followClusters(ctx, s); accepted || err != nil {
		return false, err
	}
	if acted, err := s.SyncOrchestrated(ctx, group, &on.lifecycle); acted || err != nil {
		return false, err
	}
	if l.Seq == 0 { // nothing was accepted
		return true, s.Save(ctx, group, l, on.lifecycle)
	}
	learn, err := s.readAhead(ctx, on)
	defer learn()
	if err != nil {
		return false, err
	}
	outcome, last, failure := state.Reconcile(l.Trail(ctx), on, s.reconcilers())
	if intent.CodeOf(failure) == intent.NotFound {
		if gone, err := s.forgetLate(ctx, on); gone || err != nil {
			return gone, err
		}
	}
	if failure != nil && last.Release && !passes(ctx, failure) {
		on.lifecycle.Fail(failure, s.Now().UTC())
	}
	err = errors.Join(on.save(ctx, s), failure)
	on.tellRetained(s, err)
	if outcome == state.AtRest && err == nil {
		s.lookAgain(group, on.lifecycle)
		if intent.IsName(group) {
			err = s.forgetName(ctx, group, on.lifecycle)
		}
	}
	return outcome == state.AtRest && !on.later, err
}

// save stores what the reconcilers have made of the lifecycle.
func (on *step) save(ctx context.Context, s *Reconciler) error {
	if !state.Differ(&on.read, &on.lifecycle) {
		return nil
	}
	s.Wakeups.Expect(on.group, on.read.Revision+1)
	return s.Save(ctx, on.group, on.read, on.lifecycle)
}

// followClusters has a name follow its clusters by their labels.
func (on *step) followClusters(ctx context.Context, s *Reconciler) (accepted bool, err error) {
	if intent.IsName(on.group) {
		accepted, on.later, err = s.FollowClusters(ctx, on.group, on.read)
	}
	return accepted, err
}

// lookAgain wakes a group at rest again soon if something is under way by the clock, or at
// an orchestrator. No document and no observation tells of that.
func (s *Reconciler) lookAgain(group intent.Path, l state.Lifecycle) {
	switch {
	case l.AppContext != "" || len(l.Prepared)+len(l.PendingRelease) > 0 || l.Taking != "":
		s.WakeAt(group, s.Now().Add(state.LookAgain))
	case len(l.Retained) > 0:
		s.WakeAt(group, s.looks.next(group, s.Now()))
		return
	}
	s.looks.drop(group)
}

// passes tells races and outages, which are no failures of a release.
func passes(ctx context.Context, err error) bool {
	code := intent.CodeOf(err)
	return code == appcontext.ErrStale || code == intent.Unavailable || ctx.Err() != nil
}

// offers makes anew what a logical cloud offers and what is not there.
func (s *Reconciler) offers(ctx context.Context, on *step) (state.Outcome, error) {
	return state.Onward, s.Offers.MendOffers(ctx, on.group, &on.lifecycle)
}

// suspension brings the suspension of a group, as its document says it now, to the
// group's pointer. A group that is to be terminated never rests. While nobody can
// say, it is as it was.
func (s *Reconciler) suspension(ctx context.Context, on *step) (state.Outcome, error) {
	suspended, err := s.Suspended(ctx, on.group, on.lifecycle)
	if intent.CodeOf(err) == intent.Unavailable { // an orchestrator keeps the document, and does not answer
		suspended, err = on.pointer.Suspended, nil
	}
	if err == nil && on.pointer.ContextID != "" && on.pointer.Suspended != suspended {
		on.pointer, err = s.Contexts.Suspend(ctx, on.pointer, suspended)
	}
	if suspended {
		return state.AtRest, err
	}
	return state.Onward, err
}

// formerHomes ends the external-dns of homes that records have left. There may be very many names: the step of the record does
// it for all of them.
func (s *Reconciler) formerHomes(ctx context.Context, on *step) (state.Outcome, error) {
	if !intent.IsName(on.group) {
		return state.Onward, s.stepProviders(ctx, on.lifecycle.Former)
	}
	for _, use := range on.lifecycle.Former {
		s.WakeAt(use.Record, s.Now().Add(state.LookTogether))
	}
	return state.Onward, nil
}

// moves follows records to their new homes, to which the lifecycle refers before
// anything is there.
func (s *Reconciler) moves(ctx context.Context, on *step) (state.Outcome, error) {
	moved, err := s.ApplyMoves(ctx, &on.lifecycle)
	if moved {
		return state.Again, err
	}
	return state.Onward, err
}

// providers brings the external-dns that the release relies on to its homes.
func (s *Reconciler) providers(ctx context.Context, on *step) (state.Outcome, error) {
	if on.reliesOnUses() {
		return state.Onward, nil
	}
	if there, err := s.providersThere(ctx, on); there || err != nil {
		return state.Onward, err
	}
	return state.Onward, s.stepProviders(ctx, on.lifecycle.Uses)
}

// reliesOnUses tells whether the context that was read is that of the release, in the homes
// where its providers are. The step that wrote the context has brought them there, and
// what is changed about a provider wakes the provider.
func (on *step) reliesOnUses() bool {
	if on.pointer.ContextID != on.lifecycle.ContextID || len(on.lifecycle.Former) > 0 {
		return false
	}
	for _, use := range on.lifecycle.Uses {
		if _, there := on.pointer.Clusters[use.Cluster]; !there {
			return false
		}
	}
	return true
}

func (s *Reconciler) stepProviders(ctx context.Context, uses []state.Use) error {
	for _, use := range uses {
		if err := s.Providers.StepProvider(ctx, use); err != nil {
			return err
		}
	}
	return nil
}
