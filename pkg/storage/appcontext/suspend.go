package appcontext

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Suspend marks the owner's pointer: while it is suspended, nothing that is in
// the clusters for this owner alone is created, changed, put back or deleted.
// It answers the new pointer. A commit of another context ends it. The error
// has the code ErrStale when p is no longer the owner's pointer.
func (s *Store) Suspend(ctx context.Context, p Pointer, suspended bool) (Pointer, error) {
	if err := p.changeable(); err != nil {
		return Pointer{}, err
	}
	next := p
	next.Suspended = suspended
	done, revision, err := s.kv.Txn(ctx, []kv.Compare{p.unchanged()}, putJSON(pointerKey(p.Owner), next))
	if err != nil {
		return Pointer{}, err
	}
	if !done {
		return Pointer{}, stale("the current context of " + string(p.Owner) + " has changed")
	}
	return next.at(revision), nil
}
