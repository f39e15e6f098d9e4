// Package tenancy keeps projects apart in the clusters that they share: their
// namespaces, kinds of objects, owner ids, places of DNS servers, and quotas.
package tenancy

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Keeper checks and claims what projects have in clusters.
type Keeper struct {
	*state.Store
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry

	NamespaceHolder func(ctx context.Context, namespace string) (project string, err error) // empty for a namespace of no project; nil: not asked
	Live            inputs.LiveState                                                        // for plans; nil: none
	Quotas          intent.Quotas                                                           // of projects that have none of their own

	written recent.Memory[string, kv.Item] // counts that were written here, by their key
}
