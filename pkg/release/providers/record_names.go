package providers

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// followChanges are those of DNSEndpoints of groups that use a provider, because their
// addresses depend on its allowPrivate and targetFilter, too. The names that they would
// lose are answered by group.
func (s *Updater) followChanges(ctx context.Context, record plan.Record) ([]bundle.Change, map[intent.Path]state.NameSet, error) {
	groups, err := s.Deployed(ctx, record.Path)
	if err != nil {
		return nil, nil, err
	}
	var changes []bundle.Change
	gone := map[intent.Path]state.NameSet{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		part, err := s.followed(ctx, group, groups[group], record)
		if err != nil {
			return nil, nil, err
		}
		if names := removal.Removed(part)[record.Name]; len(names) > 0 {
			gone[group] = names
		}
		part = slices.DeleteFunc(part, func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
		changes = append(changes, part...)
	}
	return changes, gone, nil
}

// followed are the changes of one group, none while it is suspended.
func (s *Updater) followed(ctx context.Context, group intent.Path, l state.Lifecycle, record plan.Record) ([]bundle.Change, error) {
	rests, err := s.Suspended(ctx, group, l)
	if err != nil || rests {
		return nil, err
	}
	published, err := s.Contexts.CurrentObjects(ctx, state.GroupOwner(group))
	if err != nil {
		return nil, err
	}
	on, err := s.Renderer.RenderInputs(ctx, l)
	if err != nil {
		return nil, err
	}
	look := s.Renderer.ObservedSources(on.Group)
	look.Keep = l.StillRetained(on.Group)
	now, err := render.Render(ctx, on.Group, on.Records, on.Drained.Clusters, published, look)
	if err != nil {
		return nil, err
	}
	look.Keep = func(context.Context, map[string]state.NameSet) (map[string]state.NameSet, error) {
		return now.Kept, nil
	}
	records := maps.Clone(on.Records)
	records[record.Name] = record
	then, err := render.Render(ctx, on.Group, records, on.Drained.Clusters, published, look)
	return render.Planned(now.Objects, then.Objects), err
}
