package kube

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

// GrantSignpost gives the user Signpost the rights of the uses, all of them if none is
// named, by the manifests that people apply.
func (s *Server) GrantSignpost(ctx context.Context, uses ...intent.ClusterUse) error {
	manifest, err := rights.Manifest(intent.Cluster{Uses: uses}.AllUses()...)
	if err != nil {
		return err
	}
	return s.Apply(ctx, string(manifest))
}
