// Package query reads what has become of releases.
package query

import (
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// Reader takes snapshots.
type Reader struct {
	*state.Store
	Inputs   *inputs.Reader
	Tenancy  *tenancy.Keeper
	Resolver *resolve.Resolver
	Sharing  *sharing.Judge
	Renderer *render.Renderer
	Follower *follow.Follower
}
