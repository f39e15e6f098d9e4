package kubeapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// served does a request as the cluster calls a kind. If the path is not known, another
// version may be served: the cluster is asked for its kinds, unless it was since then.
func (k *Kubernetes) served(ctx context.Context, kind cluster.Kind, since time.Time, request func(cluster.Resource) error) error {
	r, err := k.kinds.find(ctx, kind)
	if err != nil {
		return err
	}
	if err = request(r); !pathless(err) {
		return err
	}
	if r, err = k.kinds.ask(ctx, kind, since); err != nil {
		return err
	}
	if err = request(r); pathless(err) {
		return &fault.Error{Fault: fault.Unreachable, Code: http.StatusNotFound, Message: "the API server lists the kind " + kind.Kind + " of " + groupName(kind.Group) + ", and does not serve it", Err: err}
	}
	return err
}

// pathless tells whether an API server knows nothing at the path of a request. Only of an
// object that is absent does it say the name, or of its namespace.
func pathless(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
