package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// ReadTogether reads in three requests, and at one time, what the next steps of several names read. The steps
// read it in contexts that begin at the view. It is nil if the store has not all documents, or does not answer: each
// step reads for itself then.
func (s *Reconciler) ReadTogether(ctx context.Context, names []intent.Path) *snapshot.View {
	var first, releases state.Ahead
	for _, name := range names {
		first.Documents = append(first.Documents, state.LifecyclePath(name))
		first.Keys = append(first.Keys, appcontext.Keys(state.GroupOwner(name))...)
	}
	ctx, end, err := state.ReadAtOnce(ctx, s.Store, first)
	defer end()
	if err != nil || !snapshot.Reading(ctx) {
		return nil
	}
	lifecycles := make([]state.Lifecycle, len(names))
	for n, name := range names {
		if lifecycles[n], err = s.StoredLifecycle(ctx, name); err == nil && lifecycles[n].ContextID != "" {
			releases.Prefixes = append(releases.Prefixes, state.ReleaseKeys(lifecycles[n].ContextID))
		}
	}
	if state.ReadAhead(ctx, s.Store, releases) != nil {
		return nil
	}
	kinds, then := map[string]bool{}, state.Ahead{}
	for n, name := range names {
		kind, ahead, known := s.neededBy(ctx, name, lifecycles[n])
		if !known {
			continue
		}
		then.Documents, then.Keys, then.Prefixes = append(then.Documents, ahead.Documents...), append(then.Keys, ahead.Keys...), append(then.Prefixes, ahead.Prefixes...)
		if store, can := s.KV.(*snapshot.Store); can && !kinds[kind] {
			others := store.Hinted(kind, kv.Range{})
			kinds[kind], then.Keys, then.Prefixes = true, append(then.Keys, others.Keys...), append(then.Prefixes, others.Ahead...)
		}
	}
	if state.ReadAhead(ctx, s.Store, then) != nil {
		return nil
	}
	return snapshot.ViewOf(ctx)
}

// neededBy is what the next step of a name reads; not known of a name that is not deployed.
func (s *Reconciler) neededBy(ctx context.Context, name intent.Path, l state.Lifecycle) (kind string, ahead state.Ahead, known bool) {
	if !l.Deployed() {
		return "", state.Ahead{}, false
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(name))
	if err != nil {
		return "", state.Ahead{}, false
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return "", state.Ahead{}, false
	}
	kind, ahead = needed(l, pointer, release)
	return kind, ahead, true
}
