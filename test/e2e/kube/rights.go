package kube

import (
	"context"

	targetcluster "github.com/signpost-dns/signpost/deploy/target-cluster"
)

// GrantSignpost gives the user Signpost its rights, by the manifest that
// people apply.
func (s *Server) GrantSignpost(ctx context.Context) error {
	return s.Apply(ctx, targetcluster.Manifest())
}
