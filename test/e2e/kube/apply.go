package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// fieldManager is the name under which the admin of the tests writes.
const fieldManager = "e2e"

// Apply applies the objects of a manifest, in their order, as the admin does
// with kubectl apply --server-side.
func (s *Server) Apply(ctx context.Context, manifest string) error {
	objects, err := Parse(manifest)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := s.applyObject(ctx, object); err != nil {
			return fmt.Errorf("apply %s %s to %s: %w", object.GetKind(), object.GetName(), s.Name, err)
		}
	}
	return nil
}

func (s *Server) applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	resource := s.resource(object.GroupVersionKind(), object.GetNamespace())
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: fieldManager, Force: new(true), FieldValidation: metav1.FieldValidationStrict})
	return err
}

// Merge changes one object as the admin, by a JSON merge patch.
func (s *Server) Merge(ctx context.Context, kind schema.GroupVersionKind, namespace, name string, patch []byte) error {
	_, err := s.resource(kind, namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// Get reads one object as the admin.
func (s *Server) Get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	return s.resource(kind, namespace).Get(ctx, name, metav1.GetOptions{})
}

// Delete deletes one object as the admin, in the background.
func (s *Server) Delete(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) error {
	return s.resource(kind, namespace).Delete(ctx, name,
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
}

// List lists the objects of a kind with these labels, in all namespaces where
// namespace is empty.
func (s *Server) List(ctx context.Context, kind schema.GroupVersionKind, namespace, labels string) ([]unstructured.Unstructured, error) {
	list, err := s.resource(kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (s *Server) resource(kind schema.GroupVersionKind, namespace string) dynamic.ResourceInterface {
	resource := kind.GroupVersion().WithResource(plural(kind.Kind))
	if namespace == "" {
		return s.Dynamic.Resource(resource)
	}
	return s.Dynamic.Resource(resource).Namespace(namespace)
}

// plural is the name of a kind in URLs, for the kinds that tests use.
func plural(kind string) string {
	lower := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(lower, "y"); ok && !strings.HasSuffix(stem, "a") {
		return stem + "ies"
	}
	if strings.HasSuffix(lower, "s") {
		return lower + "es"
	}
	return lower + "s"
}

// Parse reads the objects of a YAML text of several documents.
func Parse(manifest string) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(manifest)), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parse manifest: %w", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
