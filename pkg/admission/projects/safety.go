package projects

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkSafety refuses safety rules that cannot hold, beside each other and those of the
// installation.
func checkSafety(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Project) error {
	if in.Safety == nil || old != nil && reflect.DeepEqual(in.Safety, old.Safety) {
		return nil // as it is: a cluster may have gone since
	}
	var installation intent.SafetyRules
	doc, err := a.Store.Get(ctx, intent.SafetyPath)
	switch {
	case err == nil:
		err = json.Unmarshal(doc.Body, &installation)
	case intent.CodeOf(err) == intent.NotFound:
		err = nil
	}
	if err != nil {
		return err
	}
	clusters, err := countClusters(ctx, a.Store)
	if err != nil {
		return err
	}
	for _, fault := range in.Safety.Check(clusters, installation) {
		r.Refusef(review.Spec+"/safety"+review.Pointer(fault.Pointer), "%s", fault.Detail)
	}
	return nil
}

// countClusters counts the clusters that are registered.
func countClusters(ctx context.Context, store intent.Store) (int, error) {
	const batch = 500
	total := 0
	options := intent.ListOptions{Collection: "cluster-providers", Limit: batch, Bytes: intent.PageBytes}
	err := intent.Each(ctx, store, options, func(provider intent.Document) error {
		of := intent.ListOptions{Collection: string(provider.Path) + "/clusters", Limit: batch, Bytes: intent.PageBytes}
		return intent.Each(ctx, store, of, func(intent.Document) error { total++; return nil })
	})
	return total, err
}
