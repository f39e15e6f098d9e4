// Package controller steps every owner whenever something may have changed for
// it, and removes what no release needs any more.
package controller

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/clusters"
	"github.com/signpost-dns/signpost/pkg/release/failover"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/providers"
	"github.com/signpost-dns/signpost/pkg/release/reconcile"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Worker is what a Controller works with.
type Worker struct {
	*state.Store
	Inputs     *inputs.Reader
	Renderer   *render.Renderer
	Offers     *offers.Keeper
	Follower   *follow.Follower
	Providers  *providers.Updater
	Reconciler *reconcile.Reconciler
	Clusters   *clusters.Operator
	Failovers  *failover.Mover

	Watch        func(ctx context.Context, from int64) <-chan intent.Changed // of all documents; nil: the store of documents cannot
	Replicas     Replicas                                                    // that divide the owners; nil: there is this one alone
	Metrics      prometheus.Registerer                                       // nil: nowhere
	Orchestrates chan struct{}                                               // closed once there are groups that an orchestrator deploys

	sweeping sync.Mutex
	swept    swept
}
