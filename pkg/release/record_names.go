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
// What they would lose is answered by group.
func (s *Service) followChanges(ctx context.Context, record plan.Record) ([]bundle.Change, map[intent.Path]nameSet, error) {
	groups, err := s.deployed(ctx, record.Path)
	if err != nil {
		return nil, nil, err
	}
	var changes []bundle.Change
	gone := map[intent.Path]nameSet{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		part, err := s.followed(ctx, group, groups[group], record)
		if err != nil {
			return nil, nil, err
		}
		if names := removed(part)[record.Name]; len(names) > 0 {
			gone[group] = names
		}
		part = slices.DeleteFunc(part, func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
		changes = append(changes, part...)
	}
	return changes, gone, nil
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
	look.keep = l.stillHeld(on.group)
	now, err := fill(ctx, on.group, on.records, on.drained, published, look)
	if err != nil {
		return nil, err
	}
	look.keep = func(context.Context, map[string]nameSet) (map[string]nameSet, error) { return now.kept, nil }
	records := maps.Clone(on.records)
	records[record.Name] = record
	then, err := fill(ctx, on.group, records, on.drained, published, look)
	return planned(now.objects, then.objects), err
}
