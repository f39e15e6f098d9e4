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

// contents renders the context that the release asks for, from what the clusters
// offer now.
func (s *Reconciler) contents(ctx context.Context, on *step) (_ state.Outcome, err error) {
	if on.before, err = s.Contexts.Objects(ctx, on.pointer); err == nil {
		on.next, err = s.Renderer.Wanted(ctx, on.lifecycle, on.before)
	}
	return state.Onward, err
}

// claims confirms the names of a context that is not current yet.
func (s *Reconciler) claims(ctx context.Context, on *step) (state.Outcome, error) {
	if on.next.ID == "" || on.next.ID == on.pointer.ContextID {
		return state.Onward, nil
	}
	return state.Onward, s.Ownership.ConfirmNames(ctx, on.lifecycle, on.next.Ground.Group, on.next.Ground.Records)
}

// drains tells the external-dns of DNSEndpoints that are about to go to outlive them.
func (s *Reconciler) drains(ctx context.Context, on *step) (state.Outcome, error) {
	return state.Onward, s.Cleanups.NoteDeleted(ctx, on.group, on.before, on.next.Objects)
}

// retained notes the names that stay although nothing offers them an address.
func (s *Reconciler) retained(ctx context.Context, on *step) (state.Outcome, error) {
	return state.Onward, s.Removal.NoteRetained(ctx, on.group, &on.lifecycle, on.next.Losses)
}

// tellRetained writes into the histories of names that they have begun to stay. If the step has failed, the next one does so.
func (on *step) tellRetained(s *Reconciler, failed error) {
	before := len(on.read.Retained) > 0
	switch {
	case on.next.Losses == nil || !before && len(on.lifecycle.Retained) == 0:
	case failed == nil:
		if begun := s.Removal.BegunToStay(on.group, on.next.Retained(), before); len(begun) > 0 {
			state.RecordNames(s.Names, on.next.TellRetained(on.group, begun, s.Now().UTC()))
		}
	case !before:
		s.Removal.BeginToStay(on.group)
	}
}

// context commits the group's context, or rewrites what has changed in it.
func (s *Reconciler) context(ctx context.Context, on *step) (state.Outcome, error) {
	was := on.pointer
	is, err := s.write(ctx, on)
	if err != nil {
		return state.Onward, err
	}
	if is.Revision() != was.Revision() {
		state.RecordNames(s.Names, on.next.Turns(on.group, on.read, on.before, is.ContextID != was.ContextID, s.Now().UTC()))
	}
	s.Renderer.Inputs.Keep(on.group, on.next.Ground, is)
	on.pointer, on.wrote = is, is.Revision() != was.Revision()
	err = s.Follower.Adopt(ctx, on.group, on.lifecycle, on.lifecycle.AppContext, on.next.ID)
	if err == nil {
		on.lifecycle.Failure = ""
	}
	return state.Onward, err
}

func (s *Reconciler) write(ctx context.Context, on *step) (is appcontext.Pointer, err error) {
	if on.pointer.ContextID == on.next.ID {
		return s.rewrite(ctx, on.pointer, on.before, on.next)
	}
	if err := s.Follower.Disown(ctx, on.group, on.lifecycle); err != nil {
		return is, err
	}
	when := slices.Concat(on.next.Losses.When, on.next.Relies(on.pointer))
	return s.Commit(ctx, on.pointer, on.next.Context, when...)
}

// leaving moves providers from Leaving to Draining, because the context no longer relies
// on them, and lists the names that terminate leaves with them. If the step fails before
// it stores this, the next one does it again.
func (s *Reconciler) leaving(ctx context.Context, on *step) (_ state.Outcome, err error) {
	l := &on.lifecycle
	l.Forget()
	if len(l.Leaving) == 0 || on.handing {
		return state.Onward, nil
	}
	if l.Wanted == intent.Terminate {
		l.Leftovers, err = s.Cleanups.Leftovers(ctx, on.group, on.pointer)
	}
	l.Draining = state.Without(append(slices.Clone(l.Draining), l.Leaving...), l.Uses)
	l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), l.Leaves)
	l.Leaving = nil
	return state.Onward, err
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
		if o, found := b.Find(c.ID); found {
			return o.App
		}
	}
	return ""
}
