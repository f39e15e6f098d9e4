// Package follow tells what EMCO has made of its app contexts, and has them name
// Signpost's contexts as their children.
package follow

import (
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Follower reads the states of EMCO's app contexts and writes their metas.
type Follower struct {
	*state.Store
	EMCO     *emco.Store
	Inputs   *inputs.Reader
	Resolver *resolve.Resolver
}
