package admit

import (
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// logicalCloud admits a logical cloud.
func (a *Admitter) logicalCloud(ctx context.Context, r *review, in, old *intent.LogicalCloud) error {
	const at = spec + "/namespace"
	if in.Namespace == "" {
		in.Namespace = defaultCloudNamespace(r.path.Name(), old)
	}
	if in.Namespace == reservedNamespace {
		r.refusef(at, "%s is where the cluster DNS lives; choose another", quote(in.Namespace))
	} else if err := a.tenantNamespace(ctx, r, at, in.Namespace); err != nil {
		return err
	}
	if old != nil && in.Namespace != old.Namespace {
		if err := a.manifestsFollow(ctx, r, in.Namespace); err != nil {
			return err
		}
	}
	if in.ControllerCluster == nil {
		return nil
	}
	return a.allowedCluster(ctx, r, spec+"/controllerCluster", *in.ControllerCluster)
}

// defaultCloudNamespace is the namespace of a logical cloud that asks for
// none: the one that it has, else its name as a label.
func defaultCloudNamespace(name string, old *intent.LogicalCloud) string {
	if old != nil {
		return old.Namespace
	}
	return slug(name, longestLabel)
}

// manifestsFollow refuses to move a logical cloud away from a namespace that
// the manifests of its groups name.
func (a *Admitter) manifestsFollow(ctx context.Context, r *review, namespace string) error {
	users, err := a.store.Referrers(ctx, r.path)
	if err != nil {
		return err
	}
	for _, user := range users {
		if !strings.HasSuffix(user.Collection(), "/deployment-intent-groups") {
			continue
		}
		group, err := find[intent.DeploymentIntentGroup](ctx, a.store, user)
		if err != nil {
			return err
		}
		if group == nil {
			continue
		}
		for _, app := range group.Apps {
			for _, raw := range app.Manifests {
				if m, _ := readManifest(raw); m.Metadata.Namespace != "" && m.Metadata.Namespace != namespace {
					r.conflictf(spec+"/namespace", "%s has a %s of app %s in namespace %s; change the manifest first",
						user, m.Kind, app.Name, quote(m.Metadata.Namespace))
				}
			}
		}
	}
	return nil
}

// clusterReference admits a reference of a logical cloud to a cluster.
func (a *Admitter) clusterReference(ctx context.Context, r *review, in, old *intent.ClusterReference) error {
	if err := a.allowedCluster(ctx, r, spec, *in); err != nil {
		return err
	}
	if old != nil && *old != *in {
		if err := a.nobodyNames(ctx, r, *old); err != nil {
			return err
		}
	}
	return a.each(ctx, r.path.Collection(), func(doc intent.Document) error {
		other, err := intent.Of[intent.ClusterReference](doc)
		if err == nil && doc.Path != r.path && other.Spec == *in {
			r.conflictf(spec, "%s refers to %s already", doc.Path, in.Path())
		}
		return err
	})
}

// nobodyNames refuses to let a reference change its cluster while an app or a
// DNS CR intent names the cluster that it had.
func (a *Admitter) nobodyNames(ctx context.Context, r *review, old intent.ClusterRef) error {
	users, err := a.store.Referrers(ctx, r.path)
	if err == nil && len(users) > 0 {
		r.conflictf(spec, "is %s for %s, which names that cluster; leave it out there first", old, users[0])
	}
	return err
}

// references answers which reference of a logical cloud stands for which
// cluster.
func (a *Admitter) references(ctx context.Context, cloud intent.Path) (map[intent.ClusterRef]intent.Path, error) {
	found := map[intent.ClusterRef]intent.Path{}
	err := a.each(ctx, string(cloud)+"/cluster-references", func(doc intent.Document) error {
		ref, err := intent.Of[intent.ClusterReference](doc)
		if _, known := found[ref.Spec]; err == nil && !known {
			found[ref.Spec] = doc.Path
		}
		return err
	})
	return found, err
}
