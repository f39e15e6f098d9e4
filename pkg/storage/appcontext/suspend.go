package appcontext

import (
	"context"
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
	revision, err := s.swap(ctx, p, nil, putJSON(pointerKey(p.Owner), next))
	if err != nil {
		return Pointer{}, err
	}
	return next.at(revision), nil
}

// Fence has every commit fail that began before it, by writing the owner's
// pointer as it is. Whoever gives something away that a context relies on
// fences first. The error has the code ErrStale when p is no longer the owner's
// pointer.
func (s *Store) Fence(ctx context.Context, p Pointer) error {
	_, err := s.Suspend(ctx, p, p.Suspended)
	return err
}
