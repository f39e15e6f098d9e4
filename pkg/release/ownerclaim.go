package release

import (
	"context"
	"net/url"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// ownerClaim says which external-dns carries an owner id that a user has set.
// Plans look at all releases for that; of two that are accepted at once, which
// do not see each other, the claim lets one through.
type ownerClaim struct {
	Use   Use       `json:"use"`
	Since time.Time `json:"since"` // UTC, when a release that uses it was last to be accepted
}

const ownerClaims = "/signpost/owner-id/"

// claimOwnerIDs claims the owner ids that users have set for the draft's
// external-dns.
func (s *Service) claimOwnerIDs(ctx context.Context, d *draft) error {
	for _, use := range d.uses {
		id := ownOwnerID(d.records[use.Record.Name()].frozen.Spec)
		if id == "" {
			continue
		}
		holder, err := s.claimOwnerID(ctx, id, use)
		if err != nil {
			return err
		}
		if holder != use {
			d.failOwner(ctx, id, use, holder)
			return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken an owner id of " + string(d.group.Path) + "; nothing was changed", Fields: d.errors}
		}
	}
	return nil
}

// claimOwnerID answers who has an owner id from now on.
func (s *Service) claimOwnerID(ctx context.Context, id string, use Use) (Use, error) {
	now := s.Now().UTC()
	held, err := claim(ctx, s.KV, ownerClaims+url.PathEscape(id), ownerClaim{use, now}, func(held ownerClaim) (bool, error) {
		return s.carries(ctx, held, use, now)
	})
	return held.Use, err
}

// carries says whether another external-dns than the one of a use has the owner
// id, or is about to. One that moves keeps it.
func (s *Service) carries(ctx context.Context, held ownerClaim, use Use, now time.Time) (bool, error) {
	same := held.Use.Record == use.Record && held.Use.Scope == use.Scope && (use.Scope == intent.Public || held.Use.Cluster == use.Cluster)
	if same || now.Sub(held.Since) < claimHolds {
		return !same, nil
	}
	users, err := s.users(ctx, held.Use)
	if err != nil || len(users) > 0 {
		return err == nil, err
	}
	gone, err := s.ownerGone(ctx, held.Use.owner())
	return !gone, err
}
