package controller

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	if err := s.Offers.SweepOffers(ctx, age); err != nil {
		return err
	}
	releases, is, err := s.sweepable(ctx)
	if err != nil {
		return err
	}
	if s.swept.holds(is) {
		_, err := s.Follower.Sweep(ctx, age, s.swept.prepared)
		return err
	}
	claims, err := s.claims(ctx)
	if err != nil {
		return err
	}
	dropped, err := s.Follower.Sweep(ctx, age, claims.prepared)
	if err != nil {
		return err
	}
	for _, id := range dropped {
		delete(claims.claimed, id)
	}
	if err := claims.recount.Save(ctx); err != nil {
		return err
	}
	if err := s.dropUnclaimed(ctx, releases, claims.claimed, age); err != nil {
		return err
	}
	s.swept.keep(is, claims.prepared, len(s.unclaimed) == 0)
	return nil
}

// dropUnclaimed removes the releases that no lifecycle has pointed to for long.
func (s *Worker) dropUnclaimed(ctx context.Context, releases, claimed map[string]bool, age time.Duration) error {
	now := s.Now()
	unclaimed := map[string]time.Time{}
	for _, id := range slices.Sorted(maps.Keys(releases)) {
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

// swept is what the last sweep has found, if nothing was left to do.
type swept struct {
	is       keys
	prepared map[intent.Path]state.Lifecycle // of groups that have releases for app contexts
}

// keys tell the lifecycles, releases and counts that there are, and whether one was written. They are zero if the
// store has not all documents.
type keys [sha256.Size]byte

// holds tells whether the last sweep has found the same, and has left nothing to do.
func (s *swept) holds(is keys) bool { return is != keys{} && s.is == is }

func (s *swept) keep(is keys, prepared map[intent.Path]state.Lifecycle, done bool) {
	*s = swept{}
	if done && is != (keys{}) {
		*s = swept{is, prepared}
	}
}

// sweepable answers the context ids under which releases are stored, and the keys that a sweep follows from. It
// reads no values.
func (s *Worker) sweepable(ctx context.Context) (releases map[string]bool, is keys, err error) {
	releases = map[string]bool{}
	lifecycles, hash := state.Collection(s.Store, intent.LifecycleCollection), sha256.New()
	for _, prefix := range []string{state.ReleasePrefix, tenancy.TakenPrefix, lifecycles} {
		if prefix == "" {
			return releases, keys{}, nil
		}
		items, _, err := s.KV.Range(ctx, kv.Range{Prefix: prefix, KeysOnly: true})
		if err != nil {
			return nil, keys{}, err
		}
		for _, item := range items {
			hash.Write(binary.BigEndian.AppendUint64([]byte(item.Key), uint64(item.ModRevision))) //nolint:gosec // a revision is not negative
			if prefix == state.ReleasePrefix {
				id, _, _ := strings.Cut(strings.TrimPrefix(item.Key, prefix), "/")
				releases[id] = true
			}
		}
	}
	return releases, keys(hash.Sum(nil)), nil
}

// claims are what all lifecycles point to.
type claims struct {
	claimed  map[string]bool                 // context ids of releases
	prepared map[intent.Path]state.Lifecycle // of groups that have releases for app contexts
	recount  *tenancy.Recount
}

// claims reads all lifecycles, and counts what projects have.
func (s *Worker) claims(ctx context.Context) (claims, error) {
	recount, err := tenancy.NewRecount(ctx, s.KV)
	if err != nil {
		return claims{}, err
	}
	found := claims{map[string]bool{}, map[intent.Path]state.Lifecycle{}, recount}
	return found, s.EachLifecycle(ctx, "", func(owner intent.Path, l state.Lifecycle) error {
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
			found.claimed[prepared.ContextID], found.prepared[owner] = true, l
		}
		return nil
	})
}
