package render

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Each visits groups and names with their lifecycles, in order of their paths. The context of a name has read in few requests, for
// many names and as it is at one time, what they follow from. The first error ends it.
func (s *Renderer) Each(ctx context.Context, owners map[intent.Path]state.Lifecycle, visit func(ctx context.Context, owner intent.Path, l state.Lifecycle) error) error {
	return ahead.Each(ctx, owners, func(ctx context.Context, names []intent.Path) (context.Context, func(), error) {
		return s.readTogether(ctx, names, owners)
	}, visit)
}

// readTogether returns a context that has read what names publish, and what that follows from. Releases that are gone
// are left out.
func (s *Renderer) readTogether(ctx context.Context, names []intent.Path, owners map[intent.Path]state.Lifecycle) (_ context.Context, end func(), err error) {
	var releases, then ahead.Reads
	for _, name := range names {
		releases.Prefixes = append(releases.Prefixes, state.ReleaseKeys(owners[name].ContextID))
	}
	if ctx, end, err = ahead.Published(ctx, s.Store, names, releases); err != nil {
		return ctx, end, err
	}
	for _, name := range names {
		l := owners[name]
		release, err := s.LoadRelease(ctx, l.ContextID)
		if intent.CodeOf(err) == intent.NotFound {
			continue
		}
		if err != nil {
			return ctx, end, err
		}
		then.Add(Needed(state.WithFormer(l.Placed(release.Group), l.Former)))
		then.Documents = append(then.Documents, state.LifecyclePath(name))
	}
	return ctx, end, ahead.Read(ctx, s.Store, then)
}

// Foresee reads what a group's names follow from, and where to look for the rest, to render them for a plan alone. Names that it has
// kept without an address stay.
func (s *Renderer) Foresee(ctx context.Context, l state.Lifecycle) (*Inputs, Sources, error) {
	on, err := s.RenderInputs(ctx, l)
	if err != nil {
		return nil, Sources{}, err
	}
	look := s.ObservedSources(on.Group)
	look.Keep = l.StillRetained(on.Group)
	return on, look, nil
}
