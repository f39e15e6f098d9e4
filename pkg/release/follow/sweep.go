package follow

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Sweep drops the releases for app contexts that EMCO has deleted, of groups that had prepared releases. It finishes
// patches of app contexts that were interrupted at least age ago.
func (s *Follower) Sweep(ctx context.Context, age time.Duration, prepared []intent.Path) error {
	for _, group := range prepared {
		if err := s.dropGone(ctx, group); err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
			return err
		}
	}
	return s.EMCO.Settle(ctx, age)
}

func (s *Follower) dropGone(ctx context.Context, group intent.Path) error {
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return err
	}
	var kept []state.Prepared
	for _, p := range l.Prepared {
		_, err := s.EMCO.State(ctx, p.AppContext)
		switch code := intent.CodeOf(err); {
		case code == intent.NotFound && (!l.Orchestrated() || l.AppContext != p.AppContext):
			s.Logger.InfoContext(ctx, "an app context of EMCO is gone", "group", group, "appContext", p.AppContext)
			Note(s.Now(), &l, state.OutcomeDropped, p.AppContext, "EMCO has deleted it, so its prepared release is dropped")
			continue
		case err != nil && code != intent.NotFound && code != intent.Conflict:
			return err
		}
		kept = append(kept, p)
	}
	if len(kept) == len(l.Prepared) {
		return nil
	}
	l.Prepared = kept
	return s.Swap(ctx, group, l)
}
