package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
)

// plantedKey is there when the names that an earlier Signpost claimed were put into
// the tree of names.
const plantedKey = "/signpost/names-planted"

// plantTree puts names into the tree that were claimed before there was one. What an
// older replica claims after that, the sweep puts there.
func (s *Service) plantTree(ctx context.Context) error {
	planted, err := s.treePlanted(ctx)
	if err != nil || planted {
		return err
	}
	for after := (nameclaim.Key{}); ; {
		claims, err := s.names().Page(ctx, after, sweptClaims)
		if err == nil {
			err = s.plant(ctx, claims)
		}
		if err != nil {
			return err
		}
		if len(claims) < sweptClaims {
			break
		}
		after = claims[len(claims)-1].Key
	}
	_, _, err = s.KV.Txn(ctx, nil, kv.Put(plantedKey, nil))
	return err
}

// treePlanted tells whether the tree has the names that an earlier Signpost claimed.
func (s *Service) treePlanted(ctx context.Context) (bool, error) {
	noted, _, err := s.KV.Get(ctx, plantedKey)
	return noted != nil, err
}

// plant puts those of claimed names into the tree that are keys of an etcd.
func (s *Service) plant(ctx context.Context, claims []nameclaim.Change) error {
	c := s.claimants()
	var keys []nameclaim.Key
	for _, claim := range claims {
		for _, e := range claim.Claim.Entries {
			prefix, err := c.prefix(ctx, e.Through)
			if err != nil {
				return err
			}
			if prefix != "" && externaldns.MayBeWhole(prefix, claim.Key.Name) {
				keys = append(keys, claim.Key)
				break
			}
		}
	}
	return s.names().Plant(ctx, keys)
}
