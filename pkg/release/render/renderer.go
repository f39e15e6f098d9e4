// Package render makes the objects of a release from its freeze and from what
// the clusters were observed to offer.
package render

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
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

	Live    inputs.LiveState                                          // for plans; nil: none
	Reports func(ctx context.Context, g plan.Group) ([]Report, error) // of the apps that an orchestrator deploys

	Inputs InputCache
	Health HealthCache
}
