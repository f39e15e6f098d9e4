package observe

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

// placements writes what each placement makes of the nodes, as long as these are known.
func (o *Observer) placements(ctx context.Context) error {
	wanted := o.cluster.Index.Placements(o.cluster.Name)
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
