package providers

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// OfCloud answers the providers of a project that serve a logical cloud, by name: those
// that list it, and those that its KV pairs name.
func OfCloud(ctx context.Context, a *review.Checker, cloud intent.Path) (map[string]intent.Record, error) {
	pairs, err := review.Find[intent.KVPairs](ctx, a.Store, cloud.Child("kv-pairs", intent.AssociationName))
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	if pairs != nil {
		for _, pair := range pairs.KV {
			for _, raw := range pair {
				if name, ok := Text(raw); ok {
					named[name] = true
				}
			}
		}
	}
	serving := map[string]intent.Record{}
	err = a.Each(ctx, string(cloud.Parent())+"/dns-update-records", func(doc intent.Document) error {
		stored, err := intent.Of[intent.Record](doc)
		if name := doc.Path.Name(); named[name] || slices.Contains(stored.Spec.LogicalClouds, cloud.Name()) {
			serving[name] = stored.Spec
		}
		return err
	})
	return serving, err
}
