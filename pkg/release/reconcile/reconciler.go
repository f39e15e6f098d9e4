// Package reconcile brings a group's app context, step by step, to what its
// release and the observed clusters say.
package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/providers"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Reconciler steps groups.
type Reconciler struct {
	*state.Store
	Ownership *ownership.Registry
	Sharing   *sharing.Judge
	Removal   *removal.Guard
	Renderer  *render.Renderer
	Offers    *offers.Keeper
	Follower  *follow.Follower
	Providers *providers.Updater
	Cleanups  *cleanup.Keeper

	// FollowClusters accepts a release of a name for the clusters that have the labels of its selector
	// now, if these are other ones than before. Later tells that it will when the present release is in its clusters.
	FollowClusters func(ctx context.Context, name intent.Path, l state.Lifecycle) (accepted, later bool, err error)

	// SyncOrchestrated accepts what an orchestrator has made current, before the step of its group, or
	// notes in the lifecycle what stands in the way.
	SyncOrchestrated func(ctx context.Context, group intent.Path, l *state.Lifecycle) (accepted bool, err error)

	looks looks
}
