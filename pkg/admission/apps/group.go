// Package apps judges composite apps and deployment intent groups with their manifests.
package apps

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckGroup admits a deployment intent group. It refers to its logical cloud and
// to those cluster references that its apps name, so neither can go first.
func CheckGroup(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.DeploymentIntentGroup) error {
	cloudPath, cloud, err := cloudOf(ctx, a, r, in.LogicalCloud)
	if err != nil {
		return err
	}
	var references map[intent.ClusterRef]intent.Path
	if cloud != nil {
		if references, err = review.ClusterReferences(ctx, a, cloudPath); err != nil {
			return err
		}
	}
	for i, app := range in.Apps {
		at := (review.Spec + "/apps").Index(i)
		checkAppName(r, at.Key("name"), in.Apps, i)
		if err := projects.CheckTenantNamespace(ctx, a, r, at.Key("namespace"), app.Namespace); err != nil {
			return err
		}
		review.CheckLabels(r, at.Key("clusterLabels"), app.ClusterLabels)
		if cloud == nil {
			checkManifests(r, at.Key("manifests"), app.Manifests, "")
			continue
		}
		checkManifests(r, at.Key("manifests"), app.Manifests, cloud.Namespace)
		if err := AppClusters(ctx, a, r, at.Key("clusters"), app.Clusters, cloudPath, references); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	return intentsKeepApps(ctx, a, r, in, old)
}

// cloudOf answers the logical cloud of a group, nil when it does not exist.
func cloudOf(ctx context.Context, a *review.Checker, r *review.Review, name string) (intent.Path, *intent.LogicalCloud, error) {
	const at = review.Spec + "/logicalCloud"
	if !review.IsLabelValue(name) {
		r.Refusef(at, "%s is not a name of a logical cloud; %s", review.Quote(name), review.ValueAdvice)
		return "", nil, nil
	}
	path := intent.Join("projects", r.Project(), "logical-clouds", name)
	cloud, err := review.Find[intent.LogicalCloud](ctx, a.Store, path)
	if err == nil && cloud == nil {
		a.Missing(r, at, path)
	}
	r.Refer(path)
	return path, cloud, err
}

func checkAppName(r *review.Review, at review.Pointer, apps []intent.App, i int) {
	name := apps[i].Name
	if !review.IsLabelValue(name) {
		r.Refusef(at, "%s is not a name of an app; %s", review.Quote(name), review.ValueAdvice)
	} else if slices.ContainsFunc(apps[:i], func(other intent.App) bool { return other.Name == name }) {
		r.Refusef(at, "%s is given twice; give each app once", review.Quote(name))
	}
}

// AppClusters checks that an app's clusters are among the logical cloud's and
// notes the references that say so.
func AppClusters(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, clusters []intent.ClusterRef,
	cloud intent.Path, references map[intent.ClusterRef]intent.Path,
) error {
	for i, cluster := range clusters {
		here := at.Index(i)
		if !review.CheckClusterName(r, here, cluster) {
			continue
		}
		if slices.Contains(clusters[:i], cluster) {
			r.Refusef(here, "%s is given twice; leave one out", cluster)
			continue
		}
		if reference, ok := references[cluster]; ok {
			r.Refer(reference)
			continue
		}
		found, err := review.Find[intent.Cluster](ctx, a.Store, cluster.Path())
		if err != nil {
			return err
		}
		if found == nil {
			a.Missing(r, here, cluster.Path())
		} else {
			r.Conflictf(here, "%s names %s, which is not a cluster reference of %s; its clusters are: %s",
				r.Path, cluster.Path(), cloud, clusterNames(references))
		}
	}
	return nil
}

func clusterNames(references map[intent.ClusterRef]intent.Path) string {
	names := make([]string, 0, len(references))
	for cluster := range references {
		names = append(names, cluster.String())
	}
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// intentsKeepApps refuses to drop an app that an intent of the group names.
func intentsKeepApps(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.DeploymentIntentGroup) error {
	dropped := map[string]bool{}
	for _, app := range old.Apps {
		dropped[app.Name] = true
	}
	for _, app := range in.Apps {
		delete(dropped, app.Name)
	}
	if len(dropped) == 0 {
		return nil
	}
	for _, kind := range intent.Kinds() {
		if !kind.NamesApp {
			continue
		}
		err := a.EachIntent(ctx, r.Path, kind.Collection(), func(path intent.Path, app string) {
			if dropped[app] {
				r.Conflictf(review.Spec+"/apps", "leaves out app %s, which %s names; change or delete that document first", review.Quote(app), path)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckTrafficGroup admits a traffic group, which has nothing to judge.
func CheckTrafficGroup(_ context.Context, a *review.Checker, _ *review.Review, _, _ *intent.TrafficGroup) error {
	return nil
}

// CheckCompositeApp admits one version of a composite app. The version is the
// second part of its name.
func CheckCompositeApp(_ context.Context, a *review.Checker, r *review.Review, in, _ *intent.CompositeApp) error {
	const at = review.Spec + "/compositeAppVersion"
	_, version, _ := strings.Cut(r.Path.Name(), "/")
	switch {
	case !review.IsLabelValue(in.CompositeAppVersion):
		r.Refusef(at, "%s is not a version; %s", review.Quote(in.CompositeAppVersion), review.ValueAdvice)
	case in.CompositeAppVersion != version:
		r.Refusef(at, "is %s, but the path names %s", review.Quote(in.CompositeAppVersion), review.Quote(version))
	}
	return nil
}
