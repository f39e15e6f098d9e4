package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// migrates answers from where that is an app context of another group of the
// project, in whose place EMCO migrates to this one, else nothing.
func (s *Service) migrates(ctx context.Context, group intent.Path, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	meta, err := s.emco.Meta(ctx, from)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid:
		return "", nil
	}
	source, ok := groupOf(meta)
	if !ok || source == group || projectName(source) != projectName(group) {
		return "", err
	}
	return from, err
}

func projectName(group intent.Path) string { return group.Segment("projects") }

// migrated tells whether another group of the project has taken the place of a
// group's app context, and its names are there: nobody tells that to the group
// which EMCO has migrated from.
func (s *Service) migrated(ctx context.Context, group intent.Path, appContext string) (bool, error) {
	found := false
	err := s.eachLifecycle(ctx, "projects/"+projectName(group)+"/", func(other intent.Path, l Lifecycle) error {
		if found || other == group || !l.cameFrom(appContext) {
			return nil
		}
		pointer, err := s.Contexts.Current(ctx, groupOwner(other))
		found = err == nil && pointer.ContextID == l.ContextID
		return err
	})
	return found, err
}

// cameFrom tells whether the group's app context, or one before it, took the
// place of one of another group.
func (l *Lifecycle) cameFrom(appContext string) bool {
	return l.orchestrated() && slices.ContainsFunc(l.Prepared, func(p Prepared) bool {
		return p.From == appContext && !l.older(l.AppContext, p.AppContext)
	})
}
