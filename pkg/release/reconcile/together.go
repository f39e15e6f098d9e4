package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// ReadTogether reads in three requests, and at one time, what the next steps of several names read. The steps
// read it in contexts that begin at the view. It is nil if the store has not all documents, or does not answer: each
// step reads for itself then.
func (s *Reconciler) ReadTogether(ctx context.Context, names []intent.Path) *snapshot.View {
	var first, releases ahead.Reads
	for _, name := range names {
		first.Documents = append(first.Documents, state.LifecyclePath(name))
		first.Keys = append(first.Keys, appcontext.Keys(state.GroupOwner(name))...)
	}
	ctx, end, err := ahead.Begin(ctx, s.Store, first)
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
	if ahead.Read(ctx, s.Store, releases) != nil {
		return nil
	}
	kinds, then := map[string]bool{}, ahead.Reads{}
	for n, name := range names {
		kind, reads, known := s.neededBy(ctx, name, lifecycles[n])
		if !known {
			continue
		}
		then.Add(reads)
		if !kinds[kind] {
			kinds[kind] = true
			then.Add(ahead.Hinted(s.Store, kind))
		}
	}
	if ahead.Read(ctx, s.Store, then) != nil {
		return nil
	}
	return snapshot.ViewOf(ctx)
}

// neededBy is what the next step of a name reads; not known of a name that is not deployed.
func (s *Reconciler) neededBy(ctx context.Context, name intent.Path, l state.Lifecycle) (kind string, reads ahead.Reads, known bool) {
	if !l.Deployed() {
		return "", ahead.Reads{}, false
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(name))
	if err != nil {
		return "", ahead.Reads{}, false
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return "", ahead.Reads{}, false
	}
	kind, reads = needed(l, pointer, release)
	return kind, reads, true
}
