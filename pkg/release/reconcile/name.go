package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// forgetName removes the lifecycle of a deleted name, with the releases that it keeps,
// when nothing of it is left in clusters or claims.
func (s *Reconciler) forgetName(ctx context.Context, name intent.Path, is state.Lifecycle) error {
	if !forgettable(is) {
		return nil
	}
	l, err := s.StoredLifecycle(ctx, name)
	if err != nil || !forgettable(l) {
		return err
	}
	if err := s.Contexts.Retire(ctx, state.GroupOwner(name)); err != nil { // first: nobody looks for a name without a lifecycle
		return err
	}
	err = s.Documents.Delete(ctx, state.LifecyclePath(name), intent.IfRevision(l.Revision))
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.PreconditionFailed: // somebody else did it, or publishes the name again
		return nil
	}
	if err != nil {
		return err
	}
	s.Wakeups.Expect(name, 0) // a lifecycle that comes again has small revisions
	for _, past := range l.Kept() {
		if err := s.DropRelease(ctx, past.ContextID); err != nil {
			return err
		}
	}
	return nil
}

// forgetLate removes the lifecycle of a name that was deleted, and that an older write has
// brought back, after its answer was given up. Its release is gone, and nothing was ever published.
func (s *Reconciler) forgetLate(ctx context.Context, on *step) (gone bool, err error) {
	l := on.read
	if !intent.IsName(on.group) || l.Seq > 1 || on.pointer.ContextID != "" { // a first release alone creates a lifecycle
		return false, nil
	}
	if stored, err := state.HasRelease(ctx, s.Store, l.ContextID); stored || err != nil {
		return false, err
	}
	err = s.Documents.Delete(ctx, state.LifecyclePath(on.group), intent.IfRevision(l.Revision))
	s.Wakeups.Expect(on.group, 0)
	return err == nil || intent.CodeOf(err) == intent.NotFound, err
}

// forgettable tells a name that is deleted and of which nothing is left.
func forgettable(l state.Lifecycle) bool {
	return l.Seq > 0 && !l.Deployed() && l.Settled && l.Name == nil && len(l.PendingRelease) == 0
}
