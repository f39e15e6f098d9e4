package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Prepare freezes a group's documents for an app context of EMCO's.
func (s *Service) Prepare(ctx context.Context, group intent.Path, id string) error {
	in, err := s.gather(ctx, group)
	if err != nil {
		return err
	}
	l, err := s.lifecycle(ctx, group, in.owner.UID)
	if err != nil || l.isPrepared(id) {
		return err
	}
	d, err := s.draft(ctx, in)
	if err != nil {
		return err
	}
	d.group.Orchestrated = &plan.Orchestrated{AppContext: id, Namespace: "shop", Level: "1"}
	p := Prepared{AppContext: id, ContextID: appcontext.NewID(), Traffic: []string{"front"}}
	if err := s.saveRelease(ctx, p.ContextID, Release{Group: d.group, Inputs: d.inputs}); err != nil {
		return err
	}
	l.Prepared = append(slices.Clone(l.Prepared), p)
	_, err = s.swap(ctx, group, l)
	return err
}
