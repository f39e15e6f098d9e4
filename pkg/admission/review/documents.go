package review

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckClusterName checks both names of a cluster.
func CheckClusterName(r *Review, at Pointer, ref intent.ClusterRef) bool {
	right := true
	for _, part := range []struct{ field, name string }{{"clusterProvider", ref.ClusterProvider}, {"cluster", ref.Cluster}} {
		if !IsLabelValue(part.name) {
			r.Refusef(at.Key(part.field), "%s is not a name; %s", Quote(part.name), ValueAdvice)
			right = false
		}
	}
	return right
}

// EachIntent calls visit for the intents of a kind in all traffic groups of a
// deployment intent group, with the app that each names.
func (a *Checker) EachIntent(ctx context.Context, group intent.Path, kind string, visit func(path intent.Path, app string)) error {
	return a.Each(ctx, string(group)+"/traffic-group-intents", func(traffic intent.Document) error {
		return a.Each(ctx, string(traffic.Path)+"/"+kind, func(doc intent.Document) error {
			stored, err := intent.Of[struct{ App string }](doc)
			if err == nil {
				visit(doc.Path, stored.Spec.App)
			}
			return err
		})
	})
}

// ClusterReferences answers which reference of a logical cloud stands for which
// cluster.
func ClusterReferences(ctx context.Context, a *Checker, cloud intent.Path) (map[intent.ClusterRef]intent.Path, error) {
	found := map[intent.ClusterRef]intent.Path{}
	err := a.Each(ctx, string(cloud)+"/cluster-references", func(doc intent.Document) error {
		ref, err := intent.Of[intent.ClusterReference](doc)
		if _, known := found[ref.Spec]; err == nil && !known {
			found[ref.Spec] = doc.Path
		}
		return err
	})
	return found, err
}
