package tenancy

import (
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// needs are what the manifests of a release need a grant for.
type needs struct {
	kinds    []kindNeed
	accounts []accountNeed
}

// kindNeed is a kind that is not among the namespaced ones of Kubernetes' own.
type kindNeed struct{ app, group, kind string }

// accountNeed is a ServiceAccount in the logical cloud's namespace. The manifests do not
// bring it to some of the app's clusters, or a Secret asks for its token there.
type accountNeed struct {
	app, object, account string
	clusters             []string
}

// accountOn is a ServiceAccount that manifests bring to a cluster: there alone it is
// theirs. An account of the same name in another cluster may belong to somebody else.
type accountOn struct{ cluster, name string }

// needsOf reads the manifests of a release.
func needsOf(g plan.Group) (needs, error) {
	var all needs
	brought := map[accountOn]bool{}
	objects := map[string][]map[string]any{}
	for _, app := range g.Apps {
		manifests, err := workloads.Manifests(app)
		if err != nil {
			return all, err
		}
		objects[app.Name] = manifests
		for _, m := range manifests {
			if m["apiVersion"] != "v1" || m["kind"] != "ServiceAccount" {
				continue
			}
			for _, cluster := range app.Clusters {
				brought[accountOn{cluster, nameOf(m)}] = true
			}
		}
	}
	for _, app := range g.Apps {
		for _, m := range objects[app.Name] {
			all.read(app, m, brought)
		}
	}
	return all, nil
}

func (n *needs) read(app plan.App, m map[string]any, brought map[accountOn]bool) {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if need := (kindNeed{app.Name, grant.Group(apiVersion), kind}); !grant.Common(need.group, kind) && !slices.Contains(n.kinds, need) {
		n.kinds = append(n.kinds, need)
	}
	object := fmt.Sprintf("%s %s", kind, nameOf(m))
	for _, account := range grant.Accounts(m) {
		isBrought := func(cluster string) bool { return brought[accountOn{cluster, account}] }
		if lacking := slices.DeleteFunc(slices.Clone(app.Clusters), isBrought); len(lacking) > 0 {
			n.accounts = append(n.accounts, accountNeed{app.Name, object, account, lacking})
		}
	}
	if account, token := grant.TokenOf(m); token {
		n.accounts = append(n.accounts, accountNeed{app.Name, object, account, app.Clusters})
	}
}

func nameOf(manifest map[string]any) string {
	metadata, _ := manifest["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// checkManifests refuses kinds and ServiceAccounts that nobody granted.
func checkManifests(d *resolve.Draft) {
	all, err := needsOf(d.Group)
	if err != nil {
		return // rendering says what cannot be read
	}
	for _, need := range all.kinds {
		granted := func(cluster string) bool {
			return grant.Kinds(d.In.Clusters[cluster].Spec.Kinds).Hold(need.group, need.kind)
		}
		if lacking := slices.DeleteFunc(slices.Clone(clustersOf(d.Group, need.app)), granted); len(lacking) > 0 {
			failKind(d, need, lacking)
		}
	}
	namespace := d.Group.LogicalCloudNamespace
	for _, need := range all.accounts {
		if grant.ServiceAccounts(d.In.Project.Spec.ServiceAccounts).Hold(namespace, need.account) {
			continue
		}
		d.Fail(d.Group.Path, "/spec/apps", "app %q: %s uses ServiceAccount %q or its token on %s, which the manifests do not contain; add it for each cluster of the app, or have an administrator of all projects add \"%s/%s\" to spec.serviceAccounts of %s",
			need.app, need.object, need.account, fewPaths(need.clusters), namespace, need.account, d.In.ProjectPath())
	}
}

// fewPaths names some of the documents of clusters.
func fewPaths(clusters []string) string {
	var paths []string
	for _, cluster := range clusters {
		paths = append(paths, string(intent.ClusterPath(cluster)))
	}
	return state.Few(paths)
}

// failKind refuses a kind that clusters do not grant.
func failKind(d *resolve.Draft, need kindNeed, lacking []string) {
	if need.group == "" {
		d.Fail(d.Group.Path, "/spec/apps", "app %q: %s is not a kind of v1 that manifests may hold; remove it", need.app, need.kind)
		return
	}
	kind := need.group + "/" + need.kind
	d.Fail(d.Group.Path, "/spec/apps", "app %q: %s is not one of Kubernetes' own namespaced kinds; have an administrator add %q to spec.kinds of %s, or remove it",
		need.app, kind, kind, fewPaths(lacking))
}

// clustersOf are the clusters of one of a group's apps.
func clustersOf(g plan.Group, app string) []string {
	at := slices.IndexFunc(g.Apps, func(a plan.App) bool { return a.Name == app })
	return g.Apps[at].Clusters
}
