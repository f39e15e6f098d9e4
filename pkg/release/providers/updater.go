// Package providers plans and makes the changes of providers, and brings each
// external-dns to its cluster.
package providers

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// Updater updates providers.
type Updater struct {
	*state.Store
	Tenancy   *tenancy.Keeper
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Removal   *removal.Guard
	Renderer  *render.Renderer

	lastFollowed sync.Map // of records, by path: the state that their users have last been woken for
}
