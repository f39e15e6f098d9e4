package tenancy

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// ownerClaim says which external-dns carries an owner id that a user has set.
// Plans look at all releases for that; of two that are accepted at once, which
// do not see each other, the claim lets one through.
type ownerClaim struct {
	Use   state.Use `json:"use"`
	Since time.Time `json:"since"` // UTC, when a release that uses it was last to be accepted
}

const ownerClaims = "/signpost/owner-id/"

// ClaimOwnerIDs claims the owner ids that users have set for the draft's
// external-dns.
func (s *Keeper) ClaimOwnerIDs(ctx context.Context, d *resolve.Draft) error {
	for _, use := range d.Uses {
		id := state.OwnOwnerID(d.Records[use.Record.Name()].Frozen.Spec)
		if id == "" {
			continue
		}
		holder, err := s.claimOwnerID(ctx, id, use)
		if err != nil {
			return err
		}
		if holder != use {
			failOwner(ctx, d, id, use, holder)
			return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken an owner id of " + string(d.Group.Path) + "; nothing was changed", Fields: d.Errors}
		}
	}
	return nil
}

// claimOwnerID answers who has an owner id from now on.
func (s *Keeper) claimOwnerID(ctx context.Context, id string, use state.Use) (state.Use, error) {
	now := s.Now().UTC()
	held, err := claimKey(ctx, s.KV, ownerClaims+url.PathEscape(id), ownerClaim{use, now}, func(held ownerClaim) (bool, error) {
		return s.carries(ctx, held, use, now)
	})
	return held.Use, err
}

// carries says whether another external-dns than the one of a use has the owner id, or is
// about to. A use that moves keeps it.
func (s *Keeper) carries(ctx context.Context, held ownerClaim, use state.Use, now time.Time) (bool, error) {
	same := held.Use.Record == use.Record && held.Use.Scope == use.Scope && (use.Scope == intent.Public || held.Use.Cluster == use.Cluster)
	if same || now.Sub(held.Since) < claimHolds {
		return !same, nil
	}
	users, _, err := s.FirstUsers(ctx, held.Use)
	if err != nil || len(users) > 0 {
		return err == nil, err
	}
	gone, err := s.OwnerGone(ctx, held.Use.Owner())
	if err != nil || !gone {
		return err == nil, err
	}
	return s.leavesNames(ctx, held.Use)
}

// leavesNames tells whether names may be in DNS that an external-dns has left behind,
// and that its record, which is there still, has published. They carry its owner id:
// another external-dns with that would change and delete them.
func (s *Keeper) leavesNames(ctx context.Context, use state.Use) (bool, error) {
	l, err := s.RecordLifecycle(ctx, use.Record)
	if err != nil || l.Seq == 0 {
		return false, err
	}
	doc, err := s.Documents.Get(ctx, use.Record)
	if intent.CodeOf(err) == intent.NotFound || err == nil && doc.UID != l.Record.UID {
		return false, nil
	}
	if err != nil || resolve.WhyNamesStay(l.Record.Spec) != "" {
		return err == nil, err
	}
	return s.Unattended(ctx, l.Record, use.Scope, use.Cluster)
}

// HeldOwnerID is the external-dns that has an owner id, if another one than that of a
// use does.
func (s *Keeper) HeldOwnerID(ctx context.Context, id string, use state.Use) (holder state.Use, held bool, err error) {
	item, _, err := s.KV.Get(ctx, ownerClaims+url.PathEscape(id))
	if err != nil || item == nil {
		return holder, false, err
	}
	var claim ownerClaim
	if err := json.Unmarshal(item.Value, &claim); err != nil {
		return holder, false, err
	}
	held, err = s.carries(ctx, claim, use, s.Now().UTC())
	return claim.Use, held, err
}
