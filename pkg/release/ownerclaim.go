package release

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
)

// ownerClaim says which external-dns carries an owner id that a user has set.
// Plans look at all releases for that; of two that are accepted at once, which
// do not see each other, the claim lets one through.
type ownerClaim struct {
	Use   Use       `json:"use"`
	Since time.Time `json:"since"` // UTC, when a release that uses it was last to be accepted
}

const ownerClaims = "/signpost/owner-id/"

// claimHolds is how long a claim holds of whose release nothing is to be seen:
// its acceptance takes less.
const claimHolds = time.Minute

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
			d.failOwner(id, use, holder)
			return &intent.Error{Code: intent.Conflict, Detail: "another release has just taken an owner id of " + string(d.group.Path) + "; nothing was changed", Fields: d.errors}
		}
	}
	return nil
}

// claimOwnerID answers who has an owner id from now on. Lost races are those of
// their caller, who repeats them.
func (s *Service) claimOwnerID(ctx context.Context, id string, use Use) (Use, error) {
	key := ownerClaims + url.PathEscape(id)
	item, _, err := s.KV.Get(ctx, key)
	if err != nil {
		return use, err
	}
	now := s.Now().UTC()
	if item != nil {
		var held ownerClaim
		if err := json.Unmarshal(item.Value, &held); err != nil {
			return use, err
		}
		alive, err := s.carries(ctx, held, use, now)
		if err != nil || alive {
			return held.Use, err
		}
	}
	mine, err := json.Marshal(ownerClaim{use, now})
	if err != nil {
		return use, err
	}
	done, _, err := s.KV.Txn(ctx, []kv.Compare{kv.Unchanged(key, item)}, kv.Put(key, mine))
	if err == nil && !done {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: "the owner id " + id + " has just been claimed"}
	}
	return use, err
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
