// Package orchestration serves EMCO's orchestrator: it freezes releases for
// EMCO's app contexts, and accepts them when those become current.
package orchestration

import (
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// Sync has groups follow EMCO's app contexts.
type Sync struct {
	*state.Store
	EMCO      *emco.Store
	Inputs    *inputs.Reader
	Tenancy   *tenancy.Keeper
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Sharing   *sharing.Judge
	Removal   *removal.Guard
	Follower  *follow.Follower
	Planner   *accept.Planner

	NoteEMCO func() // called once there are groups that EMCO deploys
}
