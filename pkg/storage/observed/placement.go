package observed

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

func placementPrefix(cluster string) string { return clusterPrefix(cluster) + placementFolder + "/" }

// parsePlacement takes the key of a verdict apart; ok is false for other keys.
func parsePlacement(key string) (cluster, placement string, ok bool) {
	segments := strings.Split(strings.TrimPrefix(key, prefix), "/")
	if len(segments) != 3 || segments[1] != placementFolder {
		return "", "", false
	}
	return segments[0], segments[2], true
}

// Placement answers the nodes for a placement, named by its Key, as the cluster's nodes
// were last observed. It is nil when the placement has not been judged yet.
func (s *Store) Placement(ctx context.Context, cluster, key string) (*placement.Verdict, error) {
	return read[placement.Verdict](ctx, s, placementPrefix(cluster)+key)
}

// SetPlacement writes what a placement makes of the nodes, if it changed.
func (w *Writer) SetPlacement(ctx context.Context, key string, v placement.Verdict) error {
	return w.set(ctx, placementPrefix(w.cluster)+key, v)
}
