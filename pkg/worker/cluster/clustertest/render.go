package clustertest

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Render answers the JSON that a request for the object carries: with the
// installation's labels and the values of a Secret. It holds secrets.
func Render(ctx context.Context, o bundle.Object, options cluster.Options) ([]byte, error) {
	c, err := cluster.Parse(o, options.Installation)
	if err != nil {
		return nil, err
	}
	if err := c.Fill(ctx, options.Values); err != nil {
		return nil, err
	}
	return c.JSON()
}

// ClusterScoped tells whether objects of the kind stand outside namespaces;
// known is false for kinds that only a cluster can tell about.
func ClusterScoped(group, kind string) (known, clusterScoped bool) {
	r, ok := cluster.Lookup(cluster.Kind{Group: group, Kind: kind})
	return ok, r.ClusterScoped
}
