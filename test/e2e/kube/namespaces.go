package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// controllerInterval is how often the harness' controllers look at a server.
const controllerInterval = 250 * time.Millisecond

// contents returns the kinds that a namespace may hold in the tests.
func contents() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "externaldns.k8s.io", Version: "v1alpha1", Resource: "dnsendpoints"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "secrets"},
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "serviceaccounts"},
	}
}

// FinishNamespaces plays the namespace controller until ctx ends: it empties
// each terminating namespace, and lets it go once it is empty. A server that
// does not answer is tried again.
func (s *Server) FinishNamespaces(ctx context.Context) {
	ticker := time.NewTicker(controllerInterval)
	defer ticker.Stop()
	for {
		// An error is a server that is down, or a namespace that is not empty
		// yet: both are for the next round.
		_ = s.finishNamespaces(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (s *Server) finishNamespaces(ctx context.Context) error {
	list, err := s.Client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		namespace := &list.Items[i]
		if namespace.DeletionTimestamp == nil {
			continue
		}
		if err := s.finishNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// finishNamespace deletes what the namespace holds, and finalizes it once it
// holds nothing.
func (s *Server) finishNamespace(ctx context.Context, namespace *corev1.Namespace) error {
	for _, resource := range contents() {
		if err := s.empty(ctx, resource, namespace.Name); err != nil {
			return err
		}
	}
	namespace.Spec.Finalizers = nil
	_, err := s.Client.CoreV1().Namespaces().Finalize(ctx, namespace, metav1.UpdateOptions{})
	return err
}

// empty deletes all objects of a resource; it fails while there are some.
func (s *Server) empty(ctx context.Context, resource schema.GroupVersionResource, namespace string) error {
	objects := s.Dynamic.Resource(resource).Namespace(namespace)
	list, err := objects.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) { // a custom resource without its definition
		return nil
	}
	if err != nil || len(list.Items) == 0 {
		return err
	}
	for i := range list.Items {
		err := objects.Delete(ctx, list.Items[i].GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return fmt.Errorf("namespace %s held %s", namespace, resource.Resource)
}
