package appcontext

import "context"

// Fence has every commit fail that began before it, by writing the owner's
// pointer as it is. Whoever gives something away that a context relies on
// fences first. The error has the code ErrStale when p is no longer the owner's
// pointer.
func (s *Store) Fence(ctx context.Context, p Pointer) error {
	_, err := s.Suspend(ctx, p, p.Suspended)
	return err
}
