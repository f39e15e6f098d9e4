// Package inputs reads the intents and documents that an owner's release is made
// of, and keeps their revisions.
package inputs

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Reader reads the intents of owners.
type Reader struct {
	*state.Store

	ControllerCluster *intent.ClusterRef                                                                                // the server's default home of external-dns; nil: none
	ExternallyManaged func(intent.Path) error                                                                           // not nil for documents that an orchestrator keeps; nil: none does
	DelegatedContexts func(ctx context.Context, owner appcontext.Owner, clusters []string) (appcontext.Children, error) // the contexts by which a deployer knows an owner's; nil: the sync worker puts objects into clusters

	clusters clusterList
}

// DefaultOrchestratedNamespaces are all but those of Kubernetes and of the platform, and
// the default one.
func DefaultOrchestratedNamespaces() grant.Namespaces { return grant.Namespaces{"*", "default"} }

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
