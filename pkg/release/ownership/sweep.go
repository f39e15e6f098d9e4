package ownership

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
)

// sweptClaims is how many claims are looked at by a sweep.
const sweptClaims = 1000

// SweepClaims takes away what does not hold any more, of some of the claims: it begins
// where the last one ended. Nobody waits for it, because a request for a name passes over
// entries that do not hold. Without it, claims of requests that died would be kept until
// somebody asks. It answers how many names are claimed, by the kind of their view:
// public, private, cluster, and namespace for those of clusters.
func (s *Registry) SweepClaims(ctx context.Context) (map[string]int, error) {
	s.sweepingClaims.Lock()
	defer s.sweepingClaims.Unlock()
	claims, err := s.Names().Page(ctx, s.sweptTo, sweptClaims)
	if err != nil {
		return nil, err
	}
	s.sweptTo = nameclaim.Key{}
	if len(claims) == sweptClaims {
		s.sweptTo = claims[len(claims)-1].Key
	}
	changes, err := s.unheld(ctx, claims)
	if err != nil {
		return nil, err
	}
	if err := s.Names().Write(ctx, changes); err != nil && intent.CodeOf(err) != intent.PreconditionFailed {
		return nil, err
	}
	counts, err := s.Names().Count(ctx)
	if err != nil {
		return nil, err
	}
	kinds := map[string]int{}
	for view, count := range counts {
		kind, _, _ := strings.Cut(view, "-")
		kinds[kind] += count
	}
	return kinds, nil
}

// unheld are those of claims of which something does not hold any more, without
// that.
func (s *Registry) unheld(ctx context.Context, claims []nameclaim.Change) ([]nameclaim.Change, error) {
	holders := s.claimHolders()
	var changes []nameclaim.Change
	for _, c := range claims {
		var failed error
		held := holders.of(ctx, c.Key)
		left := c.Claim.Without(func(e nameclaim.Entry) bool {
			is, err := held(e)
			if err != nil {
				failed = err
			}
			return err == nil && !is
		})
		if failed != nil && intent.CodeOf(failed) != intent.PreconditionFailed { // of a group that has just changed, it is known the next time
			return nil, failed
		}
		if len(left.Entries) < len(c.Claim.Entries) {
			changes = append(changes, nameclaim.Change{Key: c.Key, Claim: left})
		}
	}
	return changes, nil
}
