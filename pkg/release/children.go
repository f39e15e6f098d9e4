package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// adopt has the meta of an app context of EMCO's name a context of the group's
// as its child, and no other one of the group's; none where child is empty. A
// parent that is gone, or cannot be read, is passed over.
func (s *Service) adopt(ctx context.Context, l Lifecycle, parent, child string) error {
	if parent == "" {
		return nil
	}
	meta, err := s.emco.Meta(ctx, parent)
	if err != nil {
		return s.unadopted(ctx, parent, err)
	}
	patch := l.children(meta, child)
	if len(patch.AddChildren) == 0 && len(patch.RemoveChildren) == 0 {
		return nil
	}
	c, err := s.emco.Read(ctx, parent)
	if err == nil {
		_, err = s.emco.Apply(ctx, c, patch)
	}
	if err != nil {
		return s.unadopted(ctx, parent, err)
	}
	s.Logger.InfoContext(ctx, "the children of an app context of EMCO's are named", "appContext", parent, "added", patch.AddChildren, "removed", patch.RemoveChildren)
	return nil
}

// children is what makes a meta name child and no other context of the group.
func (l *Lifecycle) children(meta emco.Meta, child string) emco.Patch {
	var patch emco.Patch
	for _, past := range l.kept() {
		if past.ContextID != child && slices.Contains(meta.ChildContextIDs, past.ContextID) {
			patch.RemoveChildren = append(patch.RemoveChildren, past.ContextID)
		}
	}
	if child != "" && !slices.Contains(meta.ChildContextIDs, child) {
		patch.AddChildren = []string{child}
	}
	return patch
}

// disown has no app context but the group's own name a context of the group's.
func (s *Service) disown(ctx context.Context, l Lifecycle) error {
	for _, p := range l.Prepared {
		if p.AppContext == l.AppContext {
			continue
		}
		if err := s.adopt(ctx, l, p.AppContext, ""); err != nil {
			return err
		}
	}
	return nil
}

// unadopted tells what stands in the way of a parent from errors that matter.
func (s *Service) unadopted(ctx context.Context, parent string, err error) error {
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid, intent.TooLarge:
		s.Logger.DebugContext(ctx, "an app context of EMCO's cannot name its child", "appContext", parent, "error", err)
		return nil
	}
	return err
}
