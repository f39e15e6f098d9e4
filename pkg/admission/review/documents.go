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

// ParseCluster reads "provider/cluster", and refuses what is not of that form.
func ParseCluster(r *Review, at Pointer, name string) (ref intent.ClusterRef, right bool) {
	ref = intent.ClusterRefs([]string{name})[0]
	right = IsLabelValue(ref.ClusterProvider) && IsLabelValue(ref.Cluster)
	if !right {
		r.Refusef(at, "%s is not a cluster; write it as provider/cluster, as in dc/one", Quote(name))
	}
	return ref, right
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

// ClusterReferences answers which document puts which cluster into a logical cloud: the
// logical cloud, which lists it, or a cluster reference.
func ClusterReferences(ctx context.Context, a *Checker, cloud intent.Path) (map[intent.ClusterRef]intent.Path, error) {
	stored, err := Find[intent.LogicalCloud](ctx, a.Store, cloud)
	if err != nil || stored == nil {
		return nil, err
	}
	found := map[intent.ClusterRef]intent.Path{}
	for _, ref := range intent.ClusterRefs(stored.Clusters) {
		found[ref] = cloud
	}
	err = a.Each(ctx, string(cloud)+"/cluster-references", func(doc intent.Document) error {
		ref, err := intent.Of[intent.ClusterReference](doc)
		if _, known := found[ref.Spec]; err == nil && !known {
			found[ref.Spec] = doc.Path
		}
		return err
	})
	return found, err
}
