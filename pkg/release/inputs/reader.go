// Package inputs reads the intents and documents that an owner's release is made
// of, and keeps their revisions.
package inputs

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
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
