package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/ledger"
)

// settle notes, once for each accepted action, that all of it has happened:
// every object was applied, or everything is gone.
func (s *Service) settle(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if l.Settled {
		return len(l.Draining) == 0, nil
	}
	done, err := s.applied(ctx, group, l)
	if l.Wanted == intent.Terminate {
		done, err = s.gone(ctx, group, l)
	}
	if err != nil || !done {
		return false, err
	}
	l.Settled, l.Done = true, s.Now().UTC()
	if l.Wanted == intent.Terminate {
		l.Refs, l.Draining = nil, nil
	}
	l.record(intent.Event{Time: l.Done, Actor: actorSelf, Action: l.Wanted, Revision: l.Seq, Outcome: "completed"})
	_, err = s.swap(ctx, group, l)
	return err == nil, err
}

// applied says whether every object of the group's context and of those of its
// providers has been applied as it is now.
func (s *Service) applied(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	owners := []appcontext.Owner{groupOwner(group)}
	for _, use := range l.Uses {
		owners = append(owners, use.owner())
	}
	for _, owner := range owners {
		pointer, err := s.Contexts.Current(ctx, owner)
		if err != nil {
			return false, err
		}
		for cluster := range pointer.Clusters {
			if ok, err := s.appliedOn(ctx, pointer, cluster); err != nil || !ok {
				return false, err
			}
		}
	}
	return true, nil
}

func (s *Service) appliedOn(ctx context.Context, pointer appcontext.Pointer, cluster string) (bool, error) {
	wanted, err := s.Contexts.ObjectsOn(ctx, pointer, cluster)
	if err != nil {
		return false, err
	}
	entries, _, err := s.Ledger.Cluster(ctx, cluster)
	if err != nil {
		return false, err
	}
	applied := map[bundle.ID]ledger.Entry{}
	for _, e := range entries {
		applied[e.ID] = e
	}
	for _, o := range wanted {
		entry, known := applied[o.ID]
		if progress, _ := entry.Progress(string(pointer.Owner), o.Digest()); !known || progress != ledger.Applied {
			return false, nil
		}
	}
	return true, nil
}

// gone says whether nothing of the group is left in the clusters, and the
// providers that it was the last to use are gone as well.
func (s *Service) gone(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	owners := []appcontext.Owner{groupOwner(group)}
	for _, use := range l.Draining {
		users, err := s.users(ctx, use)
		if err != nil {
			return false, err
		}
		if len(users) == 0 {
			owners = append(owners, use.owner())
		}
	}
	for _, owner := range owners {
		pointer, err := s.Contexts.Current(ctx, owner)
		if err != nil || pointer.ContextID != "" {
			return false, err
		}
		if left, err := s.left(ctx, pointer); err != nil || left {
			return false, err
		}
	}
	return true, nil
}
