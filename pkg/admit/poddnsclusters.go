package admit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// namedCluster is a cluster with its name, as in edge+berlin.
type namedCluster struct {
	name string
	intent.Cluster
}

// address is that of the cluster's DNS, empty where it is not known.
func (c namedCluster) address() string { return cmp.Or(c.DNS, &intent.ClusterDNS{}).Address }

// clustersOf are the clusters that an app is on, ordered by name.
func (a *Admitter) clustersOf(ctx context.Context, cloud intent.Path, app intent.App) ([]namedCluster, error) {
	references, err := a.references(ctx, cloud)
	if err != nil {
		return nil, err
	}
	var clusters []namedCluster
	for ref := range references {
		if len(app.Clusters) > 0 && !slices.Contains(app.Clusters, ref) {
			continue
		}
		cluster, err := find[intent.Cluster](ctx, a.store, ref.Path())
		if err != nil {
			return nil, err
		}
		if cluster != nil && hasLabels(cluster.Labels, app.ClusterLabels) {
			clusters = append(clusters, namedCluster{ref.String(), *cluster})
		}
	}
	slices.SortFunc(clusters, func(a, b namedCluster) int { return strings.Compare(a.name, b.name) })
	return clusters, nil
}

// domainOf takes the domain that all of the clusters have, where the question
// gives none.
func (p *PodDNSPreview) domainOf(clusters []namedCluster) {
	if p.ClusterDomain != "" {
		return
	}
	domain, each := common(clusters, func(c namedCluster) string { return c.Domain() })
	if p.ClusterDomain = domain; domain == "" && len(clusters) > 0 {
		p.warn("clusterDomain %s is a guess: the clusters have different ones (%s); give that of the pod's", intent.DefaultClusterDomain, each)
	}
}

// addressOf takes the address that the DNS of all of the clusters has, where the
// question gives none.
func (p *PodDNSPreview) addressOf(clusters []namedCluster) {
	if p.ClusterDNS != "" {
		return
	}
	address, each := common(clusters, namedCluster.address)
	p.ClusterDNS = address
	if address == "" && slices.ContainsFunc(clusters, func(c namedCluster) bool { return c.address() != "" }) {
		p.addresses = each
	}
}

// common is what all of the clusters have, empty where they differ; and what each
// of them has, for people.
func common(clusters []namedCluster, of func(namedCluster) string) (value, each string) {
	var texts []string
	for i, cluster := range clusters {
		texts = append(texts, fmt.Sprintf("%s: %s", cluster.name, cmp.Or(of(cluster), "none")))
		if i == 0 {
			value = of(cluster)
		} else if of(cluster) != value {
			value = ""
		}
	}
	return value, strings.Join(texts, ", ")
}
