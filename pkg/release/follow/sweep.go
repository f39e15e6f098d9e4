package follow

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Sweep drops the releases for app contexts that EMCO has deleted, of groups with prepared releases, and answers
// the ids of their contexts. It finishes patches of app contexts that were interrupted at least age ago.
func (s *Follower) Sweep(ctx context.Context, age time.Duration, prepared map[intent.Path]state.Lifecycle) (dropped []string, err error) {
	for _, group := range slices.Sorted(maps.Keys(prepared)) {
		gone, err := s.dropGone(ctx, group, prepared[group])
		if err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
			return dropped, err
		}
		dropped = append(dropped, gone...)
	}
	return dropped, s.EMCO.Settle(ctx, age)
}

func (s *Follower) dropGone(ctx context.Context, group intent.Path, l state.Lifecycle) (dropped []string, err error) {
	var kept []state.Prepared
	for _, p := range l.Prepared {
		_, err := s.EMCO.State(ctx, p.AppContext)
		switch code := intent.CodeOf(err); {
		case code == intent.NotFound && (!l.Orchestrated() || l.AppContext != p.AppContext):
			s.Logger.InfoContext(ctx, "an app context of EMCO is gone", "group", group, "appContext", p.AppContext)
			Note(s.Now(), &l, state.OutcomeDropped, p.AppContext, "EMCO has deleted it, so its prepared release is dropped")
			dropped = append(dropped, p.ContextID)
			continue
		case err != nil && code != intent.NotFound && code != intent.Conflict:
			return nil, err
		}
		kept = append(kept, p)
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	l.Prepared = kept
	if err := s.Swap(ctx, group, l); err != nil {
		return nil, err
	}
	return dropped, nil
}
