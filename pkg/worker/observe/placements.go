package observe

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

// placements writes what each placement makes of the nodes.
func (o *Observer) placements(ctx context.Context) error {
	if err := o.judge(ctx, o.cluster.Index.Placements(o.cluster.Name)); err != nil {
		return err
	}
	return o.forgetPlacements(ctx)
}

// judge holds the nodes against each placement, as long as they are known.
func (o *Observer) judge(ctx context.Context, wanted map[string]placement.Placement) error {
	watches := o.cluster.Watches()
	if watches == nil || len(wanted) == 0 {
		return nil
	}
	nodes, known := watches.Nodes()
	if !known {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if err := o.writer.SetPlacement(ctx, key, placement.Judge(nodes, wanted[key])); err != nil {
			return err
		}
	}
	return nil
}

// forgetPlacements removes the verdicts on placements that no current pointer
// has, as of a read made for the purpose.
func (o *Observer) forgetPlacements(ctx context.Context) error {
	unwanted := func() []string {
		wanted := o.cluster.Index.Placements(o.cluster.Name)
		return slices.DeleteFunc(o.writer.Placements(), func(key string) bool {
			_, ok := wanted[key]
			return ok
		})
	}
	if len(unwanted()) == 0 {
		return nil
	}
	if _, err := o.cluster.Index.Refresh(ctx); err != nil {
		return err
	}
	for _, key := range unwanted() {
		if err := o.writer.RemovePlacement(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
