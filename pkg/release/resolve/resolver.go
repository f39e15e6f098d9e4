// Package resolve turns intents into a draft of a release: which apps run
// where, which providers serve which names, and where each provider's
// external-dns lives.
package resolve

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
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

// LookLive answers an observation, or looks at the live Service when there is none.
func (s *Resolver) LookLive(ctx context.Context, service address.Service) (*address.Observation, error) {
	last, err := s.Observed.Service(ctx, service)
	switch {
	case err != nil:
		return nil, err
	case last != nil:
		return &last.Observation, nil
	case s.Live == nil:
		return nil, nil
	}
	seen, err := s.Live.ReadService(ctx, service)
	if err != nil {
		s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", service.Cluster, "error", err)
		return nil, nil
	}
	return seen, nil
}
