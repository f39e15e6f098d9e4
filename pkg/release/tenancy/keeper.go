// Package tenancy keeps projects apart in the clusters that they share: their
// namespaces, kinds of objects, owner ids, places of DNS servers, and quotas.
package tenancy

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Keeper checks and claims what projects have in clusters.
type Keeper struct {
	*state.Store
	Inputs    *inputs.Reader
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry

	NamespaceHolder func(ctx context.Context, namespace string) (project string, err error)    // empty for a namespace of no project; nil: not asked
	PeekNamespace   func(ctx context.Context, cluster, namespace string) (grant.MadeBy, error) // a live look at who made a namespace; nil: none
	Quotas          intent.Quotas                                                              // of projects that have none of their own
}
