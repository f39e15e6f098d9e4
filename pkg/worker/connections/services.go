package connections

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

// Services returns a page of the Services that a cluster has now. A cluster without an API
// server shows none, and the page says so. The errors are *intent.Error values: NotFound,
// Invalid for an After that no recent page had, Unavailable if the cluster does not answer.
func (c *Pool) Services(ctx context.Context, path intent.Path, q intent.ServiceQuery) (intent.ServicePage, error) {
	page, err := readLive(ctx, c, clusterName(path), func(ctx context.Context, target *kubeapi.Kubernetes) (intent.ServicePage, error) {
		return kubeapi.Services(ctx, target, q)
	})
	switch code := cluster.CodeOf(err); {
	case err == nil && page.Items == nil:
		return intent.ServicePage{Items: []intent.ClusterService{}, Message: "the cluster has no kubeconfig, so its Services cannot be listed"}, nil
	case err == nil:
		return page, nil
	case intent.CodeOf(err) == intent.NotFound:
		return intent.ServicePage{}, err
	case q.After != "" && (code == http.StatusGone || code == http.StatusBadRequest):
		return intent.ServicePage{}, &intent.Error{Code: intent.Invalid, Detail: "continue is of no recent page: leave it out to begin again", Err: err}
	}
	return intent.ServicePage{}, &intent.Error{Code: intent.Unavailable, Detail: "the Services of the cluster cannot be listed: " + err.Error() + "; see its preflight", Err: err}
}
