package explain

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Fleet returns how clusters and external-dns do, as far as the index tells, and which
// clusters are drained.
func (e *Explainer) Fleet(ctx context.Context, q intent.FleetQuery) (intent.Fleet, error) {
	drained, err := e.Reader.DrainedClusters(ctx)
	if err != nil {
		return intent.Fleet{}, err
	}
	q.Drained = map[string]bool{}
	for name := range drained.Clusters {
		q.Drained[name] = true
	}
	return e.Index.Census(q)
}
