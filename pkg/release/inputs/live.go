package inputs

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

// LiveState reads clusters as they are now, for plans. A cluster is named
// "provider+cluster". An error means that the cluster did not answer. The plan does
// without the answer then.
type LiveState interface {
	// ReadService returns what a Service offers.
	ReadService(ctx context.Context, service address.Service) (*address.Observation, error)
	// ReadServiceNames returns the names of the Services in a namespace.
	ReadServiceNames(ctx context.Context, cluster, namespace string) ([]string, error)
	// ReadNodes returns the nodes of a cluster; nil if they cannot be known.
	ReadNodes(ctx context.Context, cluster string) ([]placement.Node, error)
	// ReadResolverUsers returns what is seen to ask nameservers in a cluster.
	ReadResolverUsers(ctx context.Context, cluster string, addresses []string) ([]string, error)
	// ReadForeignObjects returns those of the objects that exist and are not Signpost's.
	ReadForeignObjects(ctx context.Context, cluster string, ids []bundle.ID) ([]bundle.ID, error)
	// ReadNamespaceMaker returns who made a namespace.
	ReadNamespaceMaker(ctx context.Context, cluster, namespace string) (grant.MadeBy, error)
}
