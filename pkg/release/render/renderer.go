// Package render makes the objects of a release from its freeze and from what
// the clusters were observed to offer.
package render

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Renderer renders releases.
type Renderer struct {
	*state.Store
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Removal   *removal.Guard

	PeekNodes func(ctx context.Context, cluster string) ([]placement.Node, error) // a live look at a cluster's nodes for plans, nil where they cannot be known; nil: none

	Inputs InputCache
	Health HealthCache
}
