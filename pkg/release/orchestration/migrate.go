package orchestration

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// migrates answers from where that is an app context of another group of the
// project, in whose place EMCO migrates to this one, else nothing.
func (s *Sync) migrates(ctx context.Context, group intent.Path, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	meta, err := s.EMCO.Meta(ctx, from)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid:
		return "", nil
	}
	source, ok := follow.GroupOf(meta)
	if !ok || source == group || state.ProjectName(source) != state.ProjectName(group) {
		return "", err
	}
	return from, err
}

// migrated tells whether another group of the project has replaced a group's app context,
// and its names are there. EMCO does not tell that to the group that it migrated from.
func (s *Sync) migrated(ctx context.Context, group intent.Path, appContext string) (bool, error) {
	found := false
	err := s.EachLifecycle(ctx, "projects/"+state.ProjectName(group)+"/", func(other intent.Path, l state.Lifecycle) error {
		if found || other == group || !l.CameFrom(appContext) {
			return nil
		}
		pointer, err := s.Contexts.Current(ctx, state.GroupOwner(other))
		found = err == nil && pointer.ContextID == l.ContextID
		return err
	})
	return found, err
}
