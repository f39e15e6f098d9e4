package release

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
)

// claimedKey is there when all releases were seen to have claims, also those
// that an earlier Signpost has made.
const claimedKey = "/signpost/names-claimed"

// claimNames claims the names and namespaces of a release that an earlier Signpost has made.
// What another project has claimed already stays as it is in the clusters, and
// an event tells.
func (s *Service) claimNames(ctx context.Context, group intent.Path, l Lifecycle) (Lifecycle, error) {
	if !l.lacksClaims(group) {
		return l, nil
	}
	if _, _, err := s.KV.Txn(ctx, nil, kv.Delete(claimedKey)); err != nil {
		return l, err // where one comes from, there may be more
	}
	release, err := s.loadRelease(ctx, l.ContextID)
	if err != nil {
		return l, err
	}
	changes, lost, err := s.confirmed(ctx, l, l.placed(release.Group))
	if err == nil {
		err = s.names().Write(ctx, changes)
	}
	if err != nil {
		return l, err
	}
	l.Claimed = true
	if len(lost) > 0 {
		l.record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "contested",
			Message: few(lost) + ": others have it, too, since before names had owners; leave it to one of them"})
	}
	return s.swap(ctx, group, l)
}

// lacksClaims says whether an owner's release may give names that have no claims
// yet.
func (l *Lifecycle) lacksClaims(owner intent.Path) bool {
	return !l.Claimed && l.deployed() && !IsCloud(owner)
}

// lackingClaims are the releases of which the names have no claims yet, by owner.
func (s *Service) lackingClaims(ctx context.Context) (map[intent.Path]Lifecycle, error) {
	all := map[intent.Path]Lifecycle{}
	err := s.eachLifecycle(ctx, "", func(owner intent.Path, l Lifecycle) error {
		if l.lacksClaims(owner) {
			all[owner] = l
		}
		return nil
	})
	return all, err
}

// noteClaimed notes that no release is left that an earlier Signpost has made and
// of which the names have no claims: nobody has to look for them any more.
func (s *Service) noteClaimed(ctx context.Context) error {
	noted, err := s.allClaimed(ctx)
	if err != nil || noted {
		return err
	}
	left, err := s.lackingClaims(ctx)
	if err != nil || len(left) > 0 {
		return err
	}
	_, _, err = s.KV.Txn(ctx, nil, kv.Put(claimedKey, nil))
	return err
}

func (s *Service) allClaimed(ctx context.Context) (bool, error) {
	noted, _, err := s.KV.Get(ctx, claimedKey)
	return noted != nil, err
}

// givenUnclaimed are the names and namespaces that releases of other projects have without
// claims, as an earlier Signpost accepted them, with the group that gives them.
// It has to be asked after claims were read: what is adopted in between has
// changed them.
func (s *Service) givenUnclaimed(ctx context.Context, project string) (map[nameclaim.Key]intent.Path, error) {
	noted, err := s.allClaimed(ctx)
	if err != nil || noted {
		return nil, err
	}
	groups, err := s.lackingClaims(ctx)
	if err != nil {
		return nil, err
	}
	all := map[nameclaim.Key]intent.Path{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if projectName(group) == project {
			continue
		}
		gives, err := s.givenBy(ctx, groups[group])
		if err != nil {
			return nil, err
		}
		for key := range gives {
			all[key] = group
		}
	}
	return all, nil
}
