package admit

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// group admits a deployment intent group. It refers to its logical cloud and
// to those cluster references that its apps name, so neither can go first.
func (a *Admitter) group(ctx context.Context, r *review, in, old *intent.DeploymentIntentGroup) error {
	cloudPath, cloud, err := a.cloudOf(ctx, r, in.LogicalCloud)
	if err != nil {
		return err
	}
	var references map[intent.ClusterRef]intent.Path
	if cloud != nil {
		if references, err = a.references(ctx, cloudPath); err != nil {
			return err
		}
	}
	for i, app := range in.Apps {
		at := (spec + "/apps").index(i)
		r.appName(at.key("name"), in.Apps, i)
		if err := a.tenantNamespace(ctx, r, at.key("namespace"), app.Namespace); err != nil {
			return err
		}
		r.labels(at.key("clusterLabels"), app.ClusterLabels)
		if cloud == nil {
			r.manifests(at.key("manifests"), app.Manifests, "")
			continue
		}
		r.manifests(at.key("manifests"), app.Manifests, cloud.Namespace)
		if err := a.appClusters(ctx, r, at.key("clusters"), app.Clusters, cloudPath, references); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	return a.intentsKeepApps(ctx, r, in, old)
}

// cloudOf answers the logical cloud of a group, nil when it does not exist.
func (a *Admitter) cloudOf(ctx context.Context, r *review, name string) (intent.Path, *intent.LogicalCloud, error) {
	const at = spec + "/logicalCloud"
	if !isLabelValue(name) {
		r.refusef(at, "%s is no name of a logical cloud; %s", quote(name), valueAdvice)
		return "", nil, nil
	}
	path := intent.Join("projects", r.project(), "logical-clouds", name)
	cloud, err := find[intent.LogicalCloud](ctx, a.store, path)
	if err == nil && cloud == nil {
		a.missing(r, at, path)
	}
	r.refer(path)
	return path, cloud, err
}

// appName checks the name of one of the apps.
func (r *review) appName(at pointer, apps []intent.App, i int) {
	name := apps[i].Name
	if !isLabelValue(name) {
		r.refusef(at, "%s is no name of an app; %s", quote(name), valueAdvice)
	} else if slices.ContainsFunc(apps[:i], func(other intent.App) bool { return other.Name == name }) {
		r.refusef(at, "%s is given twice; give each app once", quote(name))
	}
}

// appClusters checks that an app's clusters are among the logical cloud's and
// notes the references that say so.
func (a *Admitter) appClusters(
	ctx context.Context, r *review, at pointer, clusters []intent.ClusterRef,
	cloud intent.Path, references map[intent.ClusterRef]intent.Path,
) error {
	for i, cluster := range clusters {
		here := at.index(i)
		if !r.clusterName(here, cluster) {
			continue
		}
		if slices.Contains(clusters[:i], cluster) {
			r.refusef(here, "%s is given twice; leave one out", cluster)
			continue
		}
		if reference, ok := references[cluster]; ok {
			r.refer(reference)
			continue
		}
		found, err := find[intent.Cluster](ctx, a.store, cluster.Path())
		if err != nil {
			return err
		}
		if found == nil {
			a.missing(r, here, cluster.Path())
		} else {
			r.conflictf(here, "%s names %s, which is no cluster reference of %s; its clusters are: %s",
				r.path, cluster.Path(), cloud, clusterNames(references))
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
func (a *Admitter) intentsKeepApps(ctx context.Context, r *review, in, old *intent.DeploymentIntentGroup) error {
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
	for _, kind := range []string{"dns-intents", podDNSIntents} {
		err := a.eachIntent(ctx, r.path, kind, func(path intent.Path, app string) {
			if dropped[app] {
				r.conflictf(spec+"/apps", "leaves out app %s, which %s names; change or delete that first", quote(app), path)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachIntent calls visit for the intents of a kind in all traffic groups of a
// deployment intent group, with the app that each names.
func (a *Admitter) eachIntent(ctx context.Context, group intent.Path, kind string, visit func(path intent.Path, app string)) error {
	return a.each(ctx, string(group)+"/traffic-group-intents", func(traffic intent.Document) error {
		return a.each(ctx, string(traffic.Path)+"/"+kind, func(doc intent.Document) error {
			stored, err := intent.Of[struct{ App string }](doc)
			if err == nil {
				visit(doc.Path, stored.Spec.App)
			}
			return err
		})
	})
}

// trafficGroup admits a traffic group, which has nothing to judge.
func (a *Admitter) trafficGroup(context.Context, *review, *intent.TrafficGroup, *intent.TrafficGroup) error {
	return nil
}
