package release

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// followChanges are those of DNSEndpoints of groups that use a record: which
// addresses they have is up to its allowPrivate and targetFilter, too.
func (s *Service) followChanges(ctx context.Context, record plan.Record) ([]bundle.Change, error) {
	groups, err := s.deployed(ctx, record.Path)
	if err != nil {
		return nil, err
	}
	var changes []bundle.Change
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		part, err := s.followed(ctx, group, groups[group], record)
		if err != nil {
			return nil, err
		}
		changes = append(changes, part...)
	}
	return changes, nil
}

// followed are the changes of one group, none while it is suspended.
func (s *Service) followed(ctx context.Context, group intent.Path, l Lifecycle, record plan.Record) ([]bundle.Change, error) {
	rests, err := s.suspended(ctx, group, l)
	if err != nil || rests {
		return nil, err
	}
	pointer, err := s.Contexts.Current(ctx, groupOwner(group))
	if err != nil {
		return nil, err
	}
	published, err := s.Contexts.Objects(ctx, pointer)
	if err != nil {
		return nil, err
	}
	on, err := s.ground(ctx, l)
	if err != nil {
		return nil, err
	}
	look := s.seen(on.group)
	now, err := fill(ctx, on.group, on.records, on.drained, published, look)
	if err != nil {
		return nil, err
	}
	records := maps.Clone(on.records)
	records[record.Name] = record
	then, err := fill(ctx, on.group, records, on.drained, published, look)
	changes := planned(now.objects, then.objects)
	return slices.DeleteFunc(changes, func(c bundle.Change) bool { return c.Action == bundle.Unchanged }), err
}
