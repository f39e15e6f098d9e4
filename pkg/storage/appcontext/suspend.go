package appcontext

import (
	"context"
)

// Suspend marks the owner's pointer. While it is suspended, objects in the clusters that
// only this owner has are not created, changed, restored or deleted. It answers the new
// pointer. A commit of another context ends it. The error has the code ErrStale when p is
// no longer the owner's pointer.
func (s *Store) Suspend(ctx context.Context, p Pointer, suspended bool) (Pointer, error) {
	if err := p.changeable(); err != nil {
		return Pointer{}, err
	}
	next := p
	next.Suspended = suspended
	revision, err := s.swap(ctx, p, nil, moving(putJSON(pointerKey(p.Owner), next))...)
	if err != nil {
		return Pointer{}, err
	}
	return next.at(revision), nil
}

// Fence makes every commit fail that began before it, by writing the owner's pointer
// unchanged. Call Fence before giving away anything that a context relies on. The error
// has the code ErrStale when p is no longer the owner's pointer.
func (s *Store) Fence(ctx context.Context, p Pointer) error {
	_, err := s.Suspend(ctx, p, p.Suspended)
	return err
}
