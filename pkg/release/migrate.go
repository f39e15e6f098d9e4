package release

import (
	"context"
	"encoding/json"
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
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: intent.LifecycleCollection})
	if err != nil {
		return false, err
	}
	for _, doc := range page.Items {
		other := ownerOf(doc.Path)
		if other == group || IsRecord(other) || projectName(other) != projectName(group) {
			continue
		}
		var l Lifecycle
		if err := json.Unmarshal(doc.Body, &l); err != nil {
			return false, err
		}
		if !l.cameFrom(appContext) {
			continue
		}
		pointer, err := s.Contexts.Current(ctx, groupOwner(other))
		if err != nil || pointer.ContextID == l.ContextID {
			return err == nil, err
		}
	}
	return false, nil
}

// cameFrom tells whether the group's app context, or one before it, took the
// place of one of another group.
func (l *Lifecycle) cameFrom(appContext string) bool {
	return l.orchestrated() && slices.ContainsFunc(l.Prepared, func(p Prepared) bool {
		return p.From == appContext && !l.older(l.AppContext, p.AppContext)
	})
}
