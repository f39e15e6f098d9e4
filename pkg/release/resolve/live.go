package resolve

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// LookLive answers an observation, or looks at the live Service when there is none.
func (s *Resolver) LookLive(ctx context.Context, service address.Service) (*address.Observation, error) {
	seen, err := s.observation(ctx, service)
	if err != nil || seen != nil || s.Live == nil {
		return seen, err
	}
	seen, err = s.Live.ReadService(ctx, service)
	if err != nil {
		s.Logger.DebugContext(ctx, "a cluster did not answer a plan", "cluster", service.Cluster, "error", err)
		return nil, nil
	}
	return seen, nil
}

// observation answers what a Service was last seen to offer, by the worker of
// its cluster.
func (s *Resolver) observation(ctx context.Context, service address.Service) (*address.Observation, error) {
	seen, err := s.Observed.Service(ctx, service)
	if err != nil || seen == nil {
		return nil, err
	}
	return &seen.Observation, nil
}
