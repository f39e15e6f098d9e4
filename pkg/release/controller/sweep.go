package controller

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Sweep removes the releases that no lifecycle points to, the offers that none names, and
// the leftovers of the Follower. They belong to requests that died before they were
// accepted. A request writes its release before it is accepted. So a release goes only
// when this Service has found it unclaimed twice, at least age apart. Parameter age is
// longer than any request takes.
func (s *Worker) Sweep(ctx context.Context, age time.Duration) error {
	if err := s.Offers.SweepOffers(ctx, age); err != nil {
		return err
	}
	if err := s.Follower.Sweep(ctx, age); err != nil {
		return err
	}
	stored, err := s.storedReleases(ctx)
	if err != nil {
		return err
	}
	recount, err := tenancy.NewRecount(ctx, s.KV)
	if err != nil {
		return err
	}
	claimed, err := s.claimedReleases(ctx, recount)
	if err != nil {
		return err
	}
	if err := recount.Save(ctx); err != nil {
		return err
	}
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	now := s.Now()
	unclaimed := map[string]time.Time{}
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		since, known := s.unclaimed[id]
		switch {
		case claimed[id]:
		case !known:
			unclaimed[id] = now
		case now.Sub(since) < age:
			unclaimed[id] = since
		default:
			if err := s.DropRelease(ctx, id); err != nil {
				return err
			}
		}
	}
	s.unclaimed = unclaimed
	return nil
}

// storedReleases are the context ids under which releases are stored.
func (s *Worker) storedReleases(ctx context.Context) (map[string]bool, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: state.ReleasePrefix, KeysOnly: true})
	ids := map[string]bool{}
	for _, item := range items {
		id, _, _ := strings.Cut(strings.TrimPrefix(item.Key, state.ReleasePrefix), "/")
		ids[id] = true
	}
	return ids, err
}

// claimedReleases are the context ids that lifecycles point to. It counts the lifecycles.
func (s *Worker) claimedReleases(ctx context.Context, recount *tenancy.Recount) (map[string]bool, error) {
	ids := map[string]bool{}
	err := s.EachLifecycle(ctx, "", func(owner intent.Path, l state.Lifecycle) error {
		if err := intent.CheckSchema(string(state.LifecyclePath(owner)), l.Schema); err != nil {
			return err // it may point to releases in ways that are not known here
		}
		recount.Add(owner, l)
		for _, past := range l.Kept() {
			ids[past.ContextID] = true
		}
		for _, id := range l.PendingRelease {
			ids[id] = true
		}
		for _, prepared := range l.Prepared {
			ids[prepared.ContextID] = true
		}
		return nil
	})
	return ids, err
}
