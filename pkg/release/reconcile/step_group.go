package reconcile

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// StepGroup brings a group's app context to what its release and the clusters'
// observations say, then its providers, and notes when all of it has been
// applied. It reports whether anything is left to wait for. It may be called
// at any time, by several replicas at once; the error of a lost race has the
// code appcontext.ErrStale, and the caller calls again.
func (s *Reconciler) StepGroup(ctx context.Context, group intent.Path) (settled bool, err error) {
	was, err := s.Contexts.Current(ctx, state.GroupOwner(group)) // first: what is read after it is at least as new
	if err != nil {
		return false, err
	}
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return true, err
	}
	if err := intent.CheckSchema("the release of "+string(group), l.Schema); err != nil {
		return true, err
	}
	if acted, err := s.SyncFromEMCO(ctx, group, l); acted || err != nil {
		return false, err
	}
	if l.Seq == 0 {
		return true, nil
	}
	ctx = l.Trail(ctx)
	if l, err = s.Offers.MendOffers(ctx, group, l); err != nil {
		return false, err
	}
	was, rests, err := s.applySuspension(ctx, group, l, was)
	if err != nil || rests {
		return rests, err
	}
	if err := s.stepProviders(ctx, l.Former); err != nil {
		return false, err
	}
	if l, err = s.ApplyMoves(ctx, group, l); err != nil {
		return false, err
	}
	if err := s.stepProviders(ctx, l.Uses); err != nil {
		return false, s.noteFailure(ctx, group, l, err)
	}
	l, made, err := s.makeCurrent(ctx, group, l, was)
	if err != nil {
		return false, s.noteFailure(ctx, group, l, err)
	}
	if err := s.stepProviders(ctx, l.Draining); err != nil {
		return false, err
	}
	settled, err = s.updateCompletion(ctx, group, l, made.whole)
	return settled && !made.wrote, err
}

// result is what has come of a group's context.
type result struct {
	whole bool // it holds all that the release asks for
	wrote bool // it was changed, by what was observed before: something newer may have come meanwhile
}

func (s *Reconciler) stepProviders(ctx context.Context, uses []state.Use) error {
	for _, use := range uses {
		if err := s.Providers.StepProvider(ctx, use); err != nil {
			return err
		}
	}
	return nil
}

// makeCurrent commits the group's context, or rewrites what has changed in it,
// and lets go of the providers that the context no longer relies on. Before
// DNSEndpoints go, their external-dns is told to outlive them.
func (s *Reconciler) makeCurrent(ctx context.Context, group intent.Path, l state.Lifecycle, was appcontext.Pointer) (state.Lifecycle, result, error) {
	before, err := s.Contexts.Objects(ctx, was)
	if err != nil {
		return l, result{}, err
	}
	next, err := s.Renderer.Wanted(ctx, l, before)
	if err != nil {
		return l, result{}, err
	}
	if next.ID != "" && next.ID != was.ContextID {
		if err := s.Ownership.ConfirmNames(ctx, l, next.Ground.Group, next.Ground.Records); err != nil {
			return l, result{}, err
		}
	}
	if err := s.Providers.NoteDrains(ctx, group, before, next.Objects); err != nil {
		return l, result{}, err
	}
	if l, err = s.Providers.NoteLeftovers(ctx, group, l, before); err != nil {
		return l, result{}, err
	}
	if l, err = s.Removal.NoteRetained(ctx, group, l, next.Losses); err != nil {
		return l, result{}, err
	}
	is := was
	if was.ContextID == next.ID {
		is, err = s.rewrite(ctx, was, before, next)
	} else if err = s.Follower.Disown(ctx, group, l); err == nil {
		is, err = s.Commit(ctx, was, next.Context, next.Losses.When...)
	}
	if err != nil {
		return l, result{}, err
	}
	s.Renderer.Inputs.Keep(group, next.Ground, is)
	if err := s.Follower.Adopt(ctx, group, l, l.AppContext, next.ID); err != nil {
		return l, result{}, err
	}
	l, err = s.leave(ctx, group, l)
	return l, result{whole: !next.Undecided, wrote: is.Revision() != was.Revision()}, err
}

// leave moves the providers that the context has stopped to rely on from
// Leaving to Draining, and drops releases that are too old to keep, but for those
// of which names are still to be freed.
func (s *Reconciler) leave(ctx context.Context, group intent.Path, l state.Lifecycle) (state.Lifecycle, error) {
	if len(l.Leaving) == 0 && l.Failure == "" && len(l.History) <= state.KeptReleases {
		return l, nil
	}
	l.Draining = state.Without(append(slices.Clone(l.Draining), l.Leaving...), l.Uses)
	l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), l.Leaves)
	l.Leaving, l.Failure = nil, ""
	was := l
	l.Forget()
	l, err := s.Swap(ctx, group, l)
	if err != nil {
		return l, err
	}
	return l, state.DropForgotten(ctx, s.Store, was, l)
}

// rewrite changes single objects of the current context, and answers its
// pointer.
func (s *Reconciler) rewrite(ctx context.Context, pointer appcontext.Pointer, current bundle.Bundle, wanted render.Desired) (appcontext.Pointer, error) {
	type place struct{ app, cluster string }
	changes := map[place][]bundle.Change{}
	var places []place
	for _, c := range bundle.Diff(current, wanted.Objects) {
		if c.Action == bundle.Unchanged {
			continue
		}
		at := place{appOf(c, current, wanted.Objects), c.ID.Cluster}
		if changes[at] == nil {
			places = append(places, at)
		}
		changes[at] = append(changes[at], c)
	}
	var err error
	for _, at := range places {
		for some := range slices.Chunk(changes[at], appcontext.MostRewritten) {
			within, end := s.Tracer.Start(ctx, "rewrite app context", "owner", string(pointer.Owner), "contextID", pointer.ContextID, "cluster", at.cluster)
			pointer, err = s.Contexts.Rewrite(within, pointer, at.app, at.cluster, some, wanted.Losses.When...)
			end(err)
			if err != nil {
				return pointer, err
			}
		}
	}
	return pointer, nil
}

func appOf(c bundle.Change, bundles ...bundle.Bundle) string {
	for _, b := range bundles {
		if at, found := slices.BinarySearchFunc(b, c.ID, func(o bundle.Object, id bundle.ID) int { return bundle.Compare(o.ID, id) }); found {
			return b[at].App
		}
	}
	return ""
}

// noteFailure writes down why an accepted release could not be committed, and
// answers the error. Races and outages are no failures of the release.
func (s *Reconciler) noteFailure(ctx context.Context, group intent.Path, l state.Lifecycle, cause error) error {
	switch intent.CodeOf(cause) {
	case appcontext.ErrStale, intent.Unavailable:
		return cause
	}
	if ctx.Err() != nil || l.Failure == cause.Error() {
		return cause
	}
	l.Failure = cause.Error()
	l.Record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "failed", Message: l.Failure})
	if _, err := s.Swap(ctx, group, l); err != nil {
		return err
	}
	return cause
}
