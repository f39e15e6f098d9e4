package release

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Users lists the groups whose releases rely on a record.
func (s *Service) Users(ctx context.Context, record intent.Path) ([]intent.Use, error) {
	if _, err := s.Documents.Get(ctx, record); err != nil {
		return nil, err
	}
	out := []intent.Use{}
	err := s.eachGroup(ctx, record, func(group intent.Path, l Lifecycle) {
		use := intent.Use{DeploymentIntentGroup: string(group)}
		for _, u := range l.Uses {
			if u.Record == record && !slices.Contains(use.Clusters, u.Cluster) {
				use.Clusters = append(use.Clusters, u.Cluster)
			}
		}
		if len(use.Clusters) > 0 {
			out = append(out, use)
		}
	})
	return out, err
}

// users are the groups that rely on one external-dns, ordered. They are
// derived from the current releases, never counted.
func (s *Service) users(ctx context.Context, use Use) ([]string, error) {
	users, _, err := s.usersAndLeavers(ctx, use)
	return users, err
}

// usersAndLeavers also answers how many groups no longer want an external-dns
// but may still have names that it publishes.
func (s *Service) usersAndLeavers(ctx context.Context, use Use) (users []string, leavers int, err error) {
	err = s.eachGroup(ctx, use.Record, func(group intent.Path, l Lifecycle) {
		switch {
		case slices.Contains(l.Uses, use):
			users = append(users, string(group))
		case slices.Contains(l.Leaving, use):
			leavers++
		}
	})
	return users, leavers, err
}

// deployed are the groups with a current release that refer to a record or to a
// cluster.
func (s *Service) deployed(ctx context.Context, to intent.Path) (map[intent.Path]Lifecycle, error) {
	groups := map[intent.Path]Lifecycle{}
	err := s.eachGroup(ctx, to, func(group intent.Path, l Lifecycle) {
		if l.deployed() {
			groups[group] = l
		}
	})
	return groups, err
}

// eachGroup visits the lifecycles of the groups that refer to a record or to a
// cluster, in order of their paths.
func (s *Service) eachGroup(ctx context.Context, to intent.Path, visit func(group intent.Path, l Lifecycle)) error {
	referrers, err := s.Documents.Referrers(ctx, to)
	if err != nil {
		return err
	}
	for _, from := range referrers {
		owner, isLifecycle := strings.CutPrefix(string(from), intent.LifecycleCollection+"/")
		group := intent.Path(owner)
		if !isLifecycle || IsRecord(group) {
			continue
		}
		l, err := s.storedLifecycle(ctx, group)
		if err != nil {
			return err
		}
		visit(group, l)
	}
	return nil
}
