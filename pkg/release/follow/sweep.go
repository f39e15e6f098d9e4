package follow

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// prepared are the groups that may have releases for app contexts.
type prepared struct {
	mu     sync.Mutex
	groups map[intent.Path]bool
}

func (p *prepared) sorted() []intent.Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.groups))
}

func (p *prepared) note(group intent.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.groups == nil {
		p.groups = map[intent.Path]bool{}
	}
	p.groups[group] = true
}

func (p *prepared) forget(group intent.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.groups, group)
}

// LookAfter has Sweep look after a group that has releases for app contexts.
func (s *Follower) LookAfter(group intent.Path) { s.prepared.note(group) }

// Sweep drops the releases for app contexts that EMCO has deleted, of the groups that LookAfter was told of. It finishes
// patches of app contexts that were interrupted at least age ago.
func (s *Follower) Sweep(ctx context.Context, age time.Duration) error {
	for _, group := range s.prepared.sorted() {
		s.prepared.forget(group) // before its releases are read: LookAfter may be told of another one meanwhile
		left, err := s.dropGone(ctx, group)
		if left || err != nil {
			s.LookAfter(group)
		}
		if err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
			return err
		}
	}
	return s.EMCO.Settle(ctx, age)
}

// dropGone tells whether releases are left to the group.
func (s *Follower) dropGone(ctx context.Context, group intent.Path) (left bool, err error) {
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return false, err
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
			return false, err
		}
		kept = append(kept, p)
	}
	if len(kept) == len(l.Prepared) {
		return len(kept) > 0, nil
	}
	l.Prepared = kept
	return len(kept) > 0, s.Swap(ctx, group, l)
}
