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
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// followChanges are those of DNSEndpoints of groups that use a provider, because their
// addresses depend on its allowPrivate and targetFilter, too. The names that they would
// lose are answered by group.
func (s *Updater) followChanges(ctx context.Context, p *resolve.RecordProposal) ([]bundle.Change, map[intent.Path]state.NameSet, error) {
	var changes []bundle.Change
	gone := map[intent.Path]state.NameSet{}
	err := s.Renderer.Each(ctx, p.Users, func(ctx context.Context, group intent.Path, l state.Lifecycle) error {
		part, err := s.followed(ctx, group, l, p.Frozen)
		if err != nil {
			return err
		}
		if names := removal.Removed(part)[p.Frozen.Name]; len(names) > 0 {
			gone[group] = names
		}
		part = slices.DeleteFunc(part, func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
		changes = append(changes, part...)
		return nil
	})
	return changes, gone, err
}

// followed are the changes of one group, none while it is suspended.
func (s *Updater) followed(ctx context.Context, group intent.Path, l state.Lifecycle, record plan.Record) ([]bundle.Change, error) {
	rests, err := s.Suspended(ctx, group, l)
	if err != nil || rests || !l.Deployed() {
		return nil, err
	}
	published, err := s.Contexts.CurrentObjects(ctx, state.GroupOwner(group))
	if err != nil {
		return nil, err
	}
	on, look, err := s.Renderer.Foresee(ctx, l)
	if err != nil {
		return nil, err
	}
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
