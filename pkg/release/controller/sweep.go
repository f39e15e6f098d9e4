package controller

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Sweep removes the releases that no lifecycle points to, and the offers that none names. So it does with the leftovers of the
// Follower, and with removals of names that do not count any more. Releases and offers belong to requests that died before they were
// accepted. A request writes its release before it is accepted. So a release goes only
// when this Service has found it unclaimed twice, at least age apart. For that, all lifecycles are
// read once in age, however often Sweep is called. Parameter age is longer than any request takes.
func (s *Worker) Sweep(ctx context.Context, age time.Duration) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	if err := s.Offers.SweepOffers(ctx, age); err != nil {
		return err
	}
	if now := s.Now(); now.Sub(s.swept.at) >= age {
		next, err := s.sweepReleases(ctx)
		if err != nil {
			return err
		}
		s.swept, s.swept.at = next, now
		if err := s.Renderer.Removal.Sweep(ctx); err != nil {
			s.Logger.WarnContext(ctx, "removals of names cannot be swept", "error", err)
		}
		if err := s.Providers.Cleanups.Sweep(ctx); err != nil {
			s.Logger.WarnContext(ctx, "names that were left behind cannot be swept", "error", err)
		}
	}
	return s.Follower.Sweep(ctx, age)
}

// swept is the last sweep that has read all lifecycles.
type swept struct {
	at        time.Time
	unclaimed map[string]bool // context ids of releases to which no lifecycle pointed
}

// sweepReleases reads all lifecycles. It removes the releases to which none points, as none did at the last sweep, and
// corrects what is counted of projects.
func (s *Worker) sweepReleases(ctx context.Context) (swept, error) {
	releases, err := s.releases(ctx) // before the lifecycles: one that is accepted meanwhile is claimed
	if err != nil {
		return swept{}, err
	}
	claims, err := s.claims(ctx)
	if err != nil {
		return swept{}, err
	}
	if err := claims.recount.Save(ctx); err != nil {
		return swept{}, err
	}
	next := swept{unclaimed: map[string]bool{}}
	for _, id := range releases {
		switch {
		case claims.claimed[id]:
		case !s.swept.unclaimed[id]:
			next.unclaimed[id] = true
		default:
			if err := s.DropRelease(ctx, id); err != nil {
				return swept{}, err
			}
		}
	}
	return next, nil
}

// releases answers the context ids under which releases are stored, in order.
func (s *Worker) releases(ctx context.Context) ([]string, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: state.ReleasePrefix, KeysOnly: true})
	ids := make([]string, len(items))
	for n, item := range items {
		ids[n], _, _ = strings.Cut(strings.TrimPrefix(item.Key, state.ReleasePrefix), "/")
	}
	return slices.Compact(ids), err
}

// claims are what all lifecycles point to.
type claims struct {
	claimed map[string]bool // context ids of releases
	recount *tenancy.Recount
}

// claims reads all lifecycles, and counts what projects have. It has the Follower look after groups with releases for app contexts.
func (s *Worker) claims(ctx context.Context) (claims, error) {
	recount, err := tenancy.NewRecount(ctx, s.KV)
	if err != nil {
		return claims{}, err
	}
	found := claims{claimed: map[string]bool{}, recount: recount}
	err = s.EachLifecycle(ctx, "", func(owner intent.Path, l state.Lifecycle) error {
		if err := intent.CheckSchema(string(state.LifecyclePath(owner)), l.Schema); err != nil {
			return err // it may point to releases in ways that are not known here
		}
		recount.Add(owner, l)
		for _, past := range l.Kept() {
			found.claimed[past.ContextID] = true
		}
		for _, id := range l.PendingRelease {
			found.claimed[id] = true
		}
		for _, prepared := range l.Prepared {
			found.claimed[prepared.ContextID] = true
		}
		if len(l.Prepared) > 0 {
			s.Follower.LookAfter(owner)
		}
		return nil
	})
	return found, err
}
