package kubeapi

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Occupant implements Target. It looks through every kind that the cluster
// serves, and fails rather than call a namespace empty that it could not see
// the whole of. It is asked only before a namespace is deleted.
func (k *Kubernetes) Occupant(ctx context.Context, namespace string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	lists, err := k.kinds.complete(ctx)
	if err != nil {
		return "", err
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return "", &fault.Error{Fault: fault.Unreachable, Message: "the cluster lists an API group that does not parse", Err: err}
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || derived(gv.Group, r.Name) {
				continue
			}
			name, err := k.occupantOf(ctx, gv.WithResource(r.Name), namespace)
			if err != nil {
				return "", err
			}
			if name != "" {
				return r.Kind + " " + name, nil
			}
		}
	}
	return "", nil
}

// derived resources follow from others, or say nothing about use.
func derived(group, plural string) bool {
	return plural == "events" || strings.HasSuffix(group, "metrics.k8s.io")
}

func (k *Kubernetes) occupantOf(ctx context.Context, at schema.GroupVersionResource, namespace string) (string, error) {
	ctx, cancel := context.WithCancel(ctx) // as each answer is done with by itself
	defer cancel()
	list, err := k.metadata.Resource(at).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 5})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return "", nil
	}
	if err != nil {
		return "", cluster.Classify(err, cluster.Reading)
	}
	for _, item := range list.Items {
		if !innate(at, item.Name) {
			return item.Name, nil
		}
	}
	return "", nil
}

// innate objects are there in every namespace from its birth.
func innate(at schema.GroupVersionResource, name string) bool {
	switch at.GroupResource() {
	case schema.GroupResource{Resource: "serviceaccounts"}:
		return name == "default"
	case schema.GroupResource{Resource: "configmaps"}:
		return name == "kube-root-ca.crt" || name == "openshift-service-ca.crt"
	}
	return false
}

// Foreign answers those of the objects that are there and that this installation
// has not made.
func (k *Kubernetes) Foreign(ctx context.Context, ids []bundle.ID) ([]bundle.ID, error) {
	var foreign []bundle.ID
	for _, id := range ids {
		live, err := k.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if live != nil && !live.Ours(k.options.Installation) {
			foreign = append(foreign, id)
		}
	}
	return foreign, nil
}
