package documents

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// scheme begins the kubeconfigRef of a cluster whose kubeconfig CLM keeps:
// "emco:edge+paris:DIGEST". No id of a sealed value has a colon.
const scheme = "emco:"

// Values are secret values by their ids.
type Values interface {
	// Secret answers a value; NotFound when there is none.
	Secret(ctx context.Context, id string) ([]byte, error)
}

// reference stands for a kubeconfig in its cluster's document; empty for none.
func (s *Store) reference(cluster intent.Path, kubeconfig []byte) string {
	if len(kubeconfig) == 0 {
		return ""
	}
	ref := intent.ClusterRef{ClusterProvider: cluster.Segment("cluster-providers"), Cluster: cluster.Segment("clusters")}
	return scheme + ref.String() + ":" + s.Digest(kubeconfig)
}

// Values answers the kubeconfigs of CLM's clusters from CLM, and all other
// secret values from sealed. No kubeconfig is kept anywhere but in memory.
func (s *Store) Values(sealed Values) Values { return values{s, sealed} }

type values struct {
	store  *Store
	sealed Values
}

// Secret implements Values. Of a kubeconfig that was replaced, it answers the
// present one.
func (v values) Secret(ctx context.Context, id string) ([]byte, error) {
	name, theirs := strings.CutPrefix(id, scheme)
	if !theirs || v.store.clm == nil {
		return v.sealed.Secret(ctx, id)
	}
	name, _, _ = strings.Cut(name, ":")
	provider, cluster, _ := strings.Cut(name, "+")
	return v.store.clm.get(ctx, string(intent.ClusterRef{ClusterProvider: provider, Cluster: cluster}.Path()), asFile)
}
