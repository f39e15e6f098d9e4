package resolve

import (
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// clusterUse is a use that something needs of a cluster.
type clusterUse struct {
	cluster string
	use     intent.ClusterUse
	need    string // what needs it, in words
}

// checkUses refuses clusters that are not for what the draft needs of them, each use of a
// cluster once.
func (d *Draft) checkUses() {
	told := map[clusterUse]bool{}
	for _, u := range usesOf(d.Group) {
		once := clusterUse{cluster: u.cluster, use: u.use}
		cluster, known := d.In.Clusters[u.cluster]
		if !known || told[once] || cluster.Spec.For(u.use) {
			continue
		}
		told[once] = true
		d.Fail(intent.ClusterPath(u.cluster), "/spec/uses", "%s", u.use.Lacks(u.cluster, u.need))
	}
}

// usesOf lists what a group needs of clusters.
func usesOf(g plan.Group) []clusterUse {
	var all []clusterUse
	for _, app := range g.Apps {
		if len(app.Manifests) == 0 || g.Orchestrated != nil {
			continue // somebody else deploys it
		}
		for _, cluster := range app.Clusters {
			all = append(all, clusterUse{cluster, intent.UseApps, fmt.Sprintf("app %q", app.Name)})
		}
	}
	for _, b := range g.Bindings {
		all = append(all, clusterUse{b.Cluster, intent.UseHome, HomeNeed(b.Record)})
		if !slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return len(h.Targets) == 0 }) {
			continue // the addresses are given
		}
		for _, cluster := range b.Sources {
			all = append(all, clusterUse{cluster, intent.UseAddresses, fmt.Sprintf("service %q", b.Namespace+"/"+b.Service)})
		}
	}
	for _, dns := range g.AllDNS() {
		all = append(all, clusterUse{dns.Cluster, intent.UseDNS, fmt.Sprintf("DNS CR intent %q", dns.Intent)})
	}
	return all
}

// UsesAt lists what a group needs of one cluster.
func UsesAt(g plan.Group, cluster string) []intent.ClusterUse {
	var uses []intent.ClusterUse
	for _, u := range usesOf(g) {
		if u.cluster == cluster && !slices.Contains(uses, u.use) {
			uses = append(uses, u.use)
		}
	}
	return uses
}

// HomeNeed says what needs a home for a provider.
func HomeNeed(provider string) string { return fmt.Sprintf("external-dns of provider %q", provider) }
