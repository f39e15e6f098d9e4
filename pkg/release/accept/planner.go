// Package accept plans lifecycle requests, and accepts them.
package accept

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// Planner plans what a request would do, and accepts it.
type Planner struct {
	*state.Store
	Inputs    *inputs.Reader
	Tenancy   *tenancy.Keeper
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Sharing   *sharing.Judge
	Removal   *removal.Guard
	Renderer  *render.Renderer
	Offers    *offers.Keeper
	Follower  *follow.Follower

	TakeBytes func(ctx context.Context, project intent.Path, bytes int) error // before a release of so many is written; nil: no project is bounded
	Room      *throttle.Bytes                                                 // for the objects of plans at work, by project; nil: there always is

	Live inputs.LiveState // nil: none
}
