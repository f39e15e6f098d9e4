// Package resolve turns intents into a draft of a release: which apps run
// where, which providers serve which names, and where each provider's
// external-dns lives.
package resolve

import (
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Resolver drafts releases.
type Resolver struct {
	*state.Store
	Inputs *inputs.Reader

	OrchestratedNamespaces grant.Namespaces // in which app contexts may have what names and DNS settings are for; none: DefaultOrchestratedNamespaces
	Live                   inputs.LiveState // for plans; nil: none
}
