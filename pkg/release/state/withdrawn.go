package state

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Awaited says whether the end of an object is waited for. It is not for objects that are
// never deleted, that are not ours, or for which Kubernetes may take its time.
func Awaited(e ledger.Entry) bool {
	return !e.Lingers() && e.Held() && e.ID.Kind != DefinitionKind
}

// Left says whether the clusters still hold objects of a context that was
// withdrawn.
func (s *Store) Left(ctx context.Context, p appcontext.Pointer) (bool, error) {
	for _, cluster := range slices.Sorted(maps.Keys(p.Withdrawn)) {
		going, err := s.Contexts.WithdrawnFrom(ctx, p, cluster)
		if err != nil {
			return false, err
		}
		entries, err := s.Ledger.Entries(ctx, cluster, going.IDs())
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			others := len(e.Owners) > 0 && !slices.Contains(e.Owners, string(p.Owner))
			if Awaited(e) && !others {
				return true, nil
			}
		}
	}
	return false, nil
}
