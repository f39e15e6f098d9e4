package clusters

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckLogicalCloud admits a logical cloud.
func CheckLogicalCloud(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.LogicalCloud) error {
	const at = review.Spec + "/namespace"
	if in.Namespace == "" {
		in.Namespace = defaultCloudNamespace(r.Path.Name(), old)
	}
	if in.Namespace == projects.ReservedNamespace {
		r.Refusef(at, "%s is the namespace of the cluster DNS; choose another", review.Quote(in.Namespace))
	} else if err := projects.CheckTenantNamespace(ctx, a, r, at, in.Namespace); err != nil {
		return err
	}
	if old != nil && in.Namespace != old.Namespace {
		if err := manifestsFollow(ctx, a, r, in.Namespace); err != nil {
			return err
		}
	}
	if in.ControllerCluster != nil {
		if err := AllowedCluster(ctx, a, r, review.Spec+"/controllerCluster", *in.ControllerCluster); err != nil {
			return err
		}
	}
	if err := AllowedClusters(ctx, a, r, review.Spec+"/clusters", in.Clusters); err != nil || old == nil {
		return err
	}
	return keepsNamedClusters(ctx, a, r, in, old)
}

// keepsNamedClusters refuses to drop a cluster that an app or a DNS CR intent of the
// logical cloud names.
func keepsNamedClusters(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.LogicalCloud) error {
	dropped := slices.DeleteFunc(intent.ClusterRefs(old.Clusters), func(ref intent.ClusterRef) bool {
		return slices.Contains(intent.ClusterRefs(in.Clusters), ref)
	})
	if len(dropped) == 0 {
		return nil
	}
	users, err := a.Store.Referrers(ctx, r.Path)
	if err != nil {
		return err
	}
	for _, user := range users {
		named, err := namedClusters(ctx, a, user)
		if err != nil {
			return err
		}
		for _, ref := range named {
			if slices.Contains(dropped, ref) {
				r.Conflictf(review.Spec+"/clusters", "leaves out %s, which %s names; remove the cluster there first", ref, user)
			}
		}
	}
	return nil
}

// namedClusters are the clusters that a deployment intent group or a DNS CR intent
// names, of other documents none.
func namedClusters(ctx context.Context, a *review.Checker, user intent.Path) ([]intent.ClusterRef, error) {
	switch {
	case strings.HasSuffix(user.Collection(), "/dns-cr-intents"):
		dns, err := review.Find[intent.DNSCRIntent](ctx, a.Store, user)
		if err != nil || dns == nil {
			return nil, err
		}
		return dns.Clusters, nil
	case strings.HasSuffix(user.Collection(), "/deployment-intent-groups"):
		group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, user)
		if err != nil || group == nil {
			return nil, err
		}
		var named []intent.ClusterRef
		for _, app := range group.Apps {
			named = append(named, app.Clusters...)
		}
		return named, nil
	}
	return nil, nil
}

// defaultCloudNamespace is the namespace of a logical cloud that asks for
// none: the one that it has, else its name as a label.
func defaultCloudNamespace(name string, old *intent.LogicalCloud) string {
	if old != nil {
		return old.Namespace
	}
	return review.Slug(name, review.LongestLabel)
}

// manifestsFollow refuses to move a logical cloud away from a namespace that
// the manifests of its groups name.
func manifestsFollow(ctx context.Context, a *review.Checker, r *review.Review, namespace string) error {
	users, err := a.Store.Referrers(ctx, r.Path)
	if err != nil {
		return err
	}
	for _, user := range users {
		if !strings.HasSuffix(user.Collection(), "/deployment-intent-groups") {
			continue
		}
		group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, user)
		if err != nil {
			return err
		}
		if group == nil {
			continue
		}
		for _, app := range group.Apps {
			for _, raw := range app.Manifests {
				if m, _ := apps.ReadManifest(raw); m.Metadata.Namespace != "" && m.Metadata.Namespace != namespace {
					r.Conflictf(review.Spec+"/namespace", "%s has a %s of app %s in namespace %s; change the manifest first",
						user, m.Kind, app.Name, review.Quote(m.Metadata.Namespace))
				}
			}
		}
	}
	return nil
}

// CheckClusterReference admits a reference of a logical cloud to a cluster.
func CheckClusterReference(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.ClusterReference) error {
	if err := AllowedCluster(ctx, a, r, review.Spec, *in); err != nil {
		return err
	}
	if old != nil && *old != *in {
		if err := nobodyNames(ctx, a, r, *old); err != nil {
			return err
		}
	}
	return a.Each(ctx, r.Path.Collection(), func(doc intent.Document) error {
		other, err := intent.Of[intent.ClusterReference](doc)
		if err == nil && doc.Path != r.Path && other.Spec == *in {
			r.Conflictf(review.Spec, "%s already refers to %s", doc.Path, in.Path())
		}
		return err
	})
}

// nobodyNames refuses to let a reference change its cluster while an app or a
// DNS CR intent names the cluster that it had.
func nobodyNames(ctx context.Context, a *review.Checker, r *review.Review, old intent.ClusterRef) error {
	users, err := a.Store.Referrers(ctx, r.Path)
	if err == nil && len(users) > 0 {
		r.Conflictf(review.Spec, "stays %s, because %s uses that cluster; remove the cluster there first", old, users[0])
	}
	return err
}
