package release

import (
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/grant"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
)

// needs are what the manifests of a release need a grant for.
type needs struct {
	kinds    []kindNeed
	accounts []accountNeed
}

// kindNeed is a kind that is not among the namespaced ones of Kubernetes' own.
type kindNeed struct{ app, group, kind string }

// accountNeed is a ServiceAccount in the logical cloud's namespace that the
// manifests do not bring, or whose token a Secret asks for.
type accountNeed struct{ app, object, account string }

// needsOf reads the manifests of a release.
func needsOf(g plan.Group) (needs, error) {
	var all needs
	brought := map[string]bool{}
	objects := map[string][]map[string]any{}
	for _, app := range g.Apps {
		manifests, err := workloads.Manifests(app)
		if err != nil {
			return all, err
		}
		objects[app.Name] = manifests
		for _, m := range manifests {
			if m["apiVersion"] == "v1" && m["kind"] == "ServiceAccount" {
				brought[nameOf(m)] = true
			}
		}
	}
	for _, app := range g.Apps {
		for _, m := range objects[app.Name] {
			all.read(app.Name, m, brought)
		}
	}
	return all, nil
}

func (n *needs) read(app string, m map[string]any, brought map[string]bool) {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if need := (kindNeed{app, grant.Group(apiVersion), kind}); !grant.Common(need.group, kind) && !slices.Contains(n.kinds, need) {
		n.kinds = append(n.kinds, need)
	}
	object := fmt.Sprintf("%s %s", kind, nameOf(m))
	for _, account := range grant.Accounts(m) {
		if !brought[account] {
			n.accounts = append(n.accounts, accountNeed{app, object, account})
		}
	}
	if account, token := grant.TokenOf(m); token {
		n.accounts = append(n.accounts, accountNeed{app, object, account})
	}
}

func nameOf(manifest map[string]any) string {
	metadata, _ := manifest["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// checkManifests refuses kinds and ServiceAccounts that nobody granted.
func (d *draft) checkManifests() {
	all, err := needsOf(d.group)
	if err != nil {
		return // rendering says what cannot be read
	}
	for _, need := range all.kinds {
		var lacking []string
		for _, cluster := range clustersOf(d.group, need.app) {
			if !grant.Kinds(d.in.clusters[cluster].Spec.Kinds).Hold(need.group, need.kind) {
				ref, _ := intent.ParseCluster(cluster)
				lacking = append(lacking, string(ref.Path()))
			}
		}
		if len(lacking) > 0 {
			d.failKind(need, lacking)
		}
	}
	namespace := d.group.LogicalCloudNamespace
	for _, need := range all.accounts {
		if grant.ServiceAccounts(d.in.project.Spec.ServiceAccounts).Hold(namespace, need.account) {
			continue
		}
		d.fail(d.group.Path, "/spec/apps", "app %q: %s uses ServiceAccount %q, which the manifests do not bring, or its token; bring it, or have an administrator of all projects add \"%s/%s\" to spec.serviceAccounts of %s",
			need.app, need.object, need.account, namespace, need.account, d.in.projectPath())
	}
}

// failKind refuses a kind that clusters, by their paths, do not grant.
func (d *draft) failKind(need kindNeed, lacking []string) {
	if need.group == "" {
		d.fail(d.group.Path, "/spec/apps", "app %q: %s is no kind of v1 that manifests may hold; take it out", need.app, need.kind)
		return
	}
	kind := need.group + "/" + need.kind
	d.fail(d.group.Path, "/spec/apps", "app %q: %s is none of Kubernetes' own kinds in namespaces; have an administrator add %q to spec.kinds of %s, or take it out",
		need.app, kind, kind, few(lacking))
}

// clustersOf are the clusters of one of a group's apps.
func clustersOf(g plan.Group, app string) []string {
	at := slices.IndexFunc(g.Apps, func(a plan.App) bool { return a.Name == app })
	return g.Apps[at].Clusters
}
