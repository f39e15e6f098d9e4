// Package clusters drains clusters, and abandons clusters that never come back.
package clusters

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Operator drains and abandons clusters.
type Operator struct {
	*state.Store
	Resolver *resolve.Resolver
	Renderer *render.Renderer

	// Refuses judges a drain of one cluster by the safety rules.
	Refuses func(ctx context.Context, before, after state.DrainedClusters) error
}
