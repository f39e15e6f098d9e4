package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// ReadTogether reads in two requests, and at one time, what the next steps of several names read. The caller has
// just listed their lifecycles. The steps read it in contexts of state.Within. It is nil if
// the store has not all documents, or does not answer: each step reads for itself then.
func (s *Reconciler) ReadTogether(ctx context.Context, lifecycles []intent.Document) *snapshot.View {
	var first state.Ahead
	for _, doc := range lifecycles {
		first.Documents = append(first.Documents, doc.Path)
		first.Keys = append(first.Keys, appcontext.Keys(state.GroupOwner(state.OwnerOf(doc.Path)))...)
		if l, err := state.ReadLifecycle(doc); err == nil && l.ContextID != "" {
			first.Prefixes = append(first.Prefixes, state.ReleaseKeys(l.ContextID))
		}
	}
	ctx, end, err := state.ReadAtOnce(ctx, s.Store, first)
	defer end()
	if err != nil {
		return nil
	}
	kinds, then := map[string]bool{}, make([]state.Ahead, 0, len(lifecycles))
	for _, doc := range lifecycles {
		if kind, ahead, known := s.neededBy(ctx, state.OwnerOf(doc.Path)); known {
			kinds[kind], then = true, append(then, ahead)
		}
	}
	if state.ReadAheadOf(ctx, s.Store, slices.Sorted(maps.Keys(kinds)), then...) != nil {
		return nil
	}
	return snapshot.ViewOf(ctx)
}

// neededBy is what the next step of a name reads; not known of a name that is not deployed.
func (s *Reconciler) neededBy(ctx context.Context, name intent.Path) (kind string, ahead state.Ahead, known bool) {
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(name))
	if err != nil {
		return "", state.Ahead{}, false
	}
	l, err := s.StoredLifecycle(ctx, name)
	if err != nil || !l.Deployed() {
		return "", state.Ahead{}, false
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return "", state.Ahead{}, false
	}
	kind, ahead = needed(l, pointer, release)
	return kind, ahead, true
}
