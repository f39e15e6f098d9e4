package account

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Resource names a kind of objects, as in networking.k8s.io, v1, ingresses.
type Resource struct{ Group, Version, Plural string }

const listPage = 500 // objects of one answer

// List reads all objects of a kind, as JSON. A cluster that does not have the kind has no objects of it.
func (c *Cluster) List(ctx context.Context, of Resource) ([][]byte, error) {
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	var objects [][]byte
	options := metav1.ListOptions{Limit: listPage}
	for {
		page, err := client.Resource(schema.GroupVersionResource{Group: of.Group, Version: of.Version, Resource: of.Plural}).List(ctx, options)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", of.Plural, cluster.Classify(err, cluster.Reading))
		}
		for _, item := range page.Items {
			raw, err := item.MarshalJSON()
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", of.Plural, err)
			}
			objects = append(objects, raw)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return objects, nil
		}
	}
}
