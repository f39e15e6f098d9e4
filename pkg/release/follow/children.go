package follow

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Adopt has the meta of an app context of EMCO name a context of the group as its only
// child; none if child is empty. A parent that is gone, or cannot be read, is skipped.
func (s *Follower) Adopt(ctx context.Context, group intent.Path, l state.Lifecycle, parent, child string) error {
	if parent == "" {
		return nil
	}
	meta, err := s.EMCO.Meta(ctx, parent)
	if err != nil {
		return s.unadopted(ctx, parent, err)
	}
	named, err := s.Named(ctx, group, l, child)
	if err != nil {
		return err
	}
	patch := childrenOf(meta, named)
	if len(patch.AddChildren) == 0 && len(patch.RemoveChildren) == 0 {
		return nil
	}
	c, err := s.EMCO.Read(ctx, parent)
	if err == nil {
		_, err = s.EMCO.Apply(ctx, c, patch)
	}
	if err != nil {
		return s.unadopted(ctx, parent, err)
	}
	s.Logger.InfoContext(ctx, "the children of an app context of EMCO are recorded", "appContext", parent, "added", patch.AddChildren, "removed", patch.RemoveChildren)
	return nil
}

// Named are the contexts that a parent names for a context of the group, and those that
// it no longer names. If rsync puts objects into clusters, they are the contexts that it
// knows.
func (s *Follower) Named(ctx context.Context, group intent.Path, l state.Lifecycle, child string) (appcontext.Children, error) {
	own := appcontext.Children{}
	for _, past := range l.Kept() {
		own.Former = append(own.Former, past.ContextID)
	}
	if s.Inputs.DelegatedContexts == nil {
		if child != "" {
			own.Now = []string{child}
		}
		return own, nil
	}
	pointer, err := s.Contexts.Current(ctx, state.GroupOwner(group))
	if err != nil {
		return appcontext.Children{}, err
	}
	clusters := slices.Concat(slices.Collect(maps.Keys(pointer.Clusters)), slices.Collect(maps.Keys(pointer.Withdrawn)), l.RemovedClusters)
	slices.Sort(clusters)
	c, err := s.Inputs.DelegatedContexts(ctx, state.GroupOwner(group), slices.Compact(clusters))
	c.Former = append(c.Former, own.Former...)
	if child == "" {
		c.Now, c.Former = nil, append(c.Former, c.Now...)
	}
	return c, err
}

// childrenOf is what makes a meta name some contexts and others not.
func childrenOf(meta emco.Meta, c appcontext.Children) emco.Patch {
	var patch emco.Patch
	for _, id := range c.Former {
		if !slices.Contains(c.Now, id) && slices.Contains(meta.ChildContextIDs, id) {
			patch.RemoveChildren = append(patch.RemoveChildren, id)
		}
	}
	for _, id := range c.Now {
		if !slices.Contains(meta.ChildContextIDs, id) {
			patch.AddChildren = append(patch.AddChildren, id)
		}
	}
	return patch
}

// Disown has no app context but the group's own name a context of the group's.
func (s *Follower) Disown(ctx context.Context, group intent.Path, l state.Lifecycle) error {
	for _, p := range l.Prepared {
		if p.AppContext == l.AppContext {
			continue
		}
		if err := s.Adopt(ctx, group, l, p.AppContext, ""); err != nil {
			return err
		}
	}
	return nil
}

// unadopted tells what stands in the way of a parent from errors that matter.
func (s *Follower) unadopted(ctx context.Context, parent string, err error) error {
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid, intent.TooLarge:
		s.Logger.DebugContext(ctx, "an app context of EMCO cannot record its child", "appContext", parent, "error", err)
		return nil
	}
	return err
}
