package poddns

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/clusterdns"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Cluster is a cluster with its name, as in edge+berlin.
type Cluster struct {
	Name string
	intent.Cluster
}

// address is that of the cluster's DNS, empty where it is not known.
func (c Cluster) address() string { return cmp.Or(c.DNS, &intent.ClusterDNS{}).Address }

// ClustersOf are the clusters that an app is on, ordered by name.
func ClustersOf(ctx context.Context, a *review.Checker, cloud intent.Path, app intent.App) ([]Cluster, error) {
	references, err := review.ClusterReferences(ctx, a, cloud)
	if err != nil {
		return nil, err
	}
	var clusters []Cluster
	err = clusterdns.EachCluster(ctx, a, references, app.Clusters, app.ClusterLabels, func(name string, cluster intent.Cluster) {
		clusters = append(clusters, Cluster{name, cluster})
	})
	slices.SortFunc(clusters, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	return clusters, err
}

// domainOf takes the domain that all of the clusters have, where the question
// gives none.
func (p *PodDNSPreview) domainOf(clusters []Cluster) {
	if p.ClusterDomain != "" {
		return
	}
	domain, each := common(clusters, func(c Cluster) string { return c.Domain() })
	if p.ClusterDomain = domain; domain == "" && len(clusters) > 0 {
		p.warn("clusterDomain %s is a guess, because the clusters have different ones (%s); give the domain of the pod's cluster", intent.DefaultClusterDomain, each)
	}
}

// addressOf takes the address that the DNS of all of the clusters has, where the
// question gives none.
func (p *PodDNSPreview) addressOf(clusters []Cluster) {
	if p.ClusterDNS != "" {
		return
	}
	address, each := common(clusters, Cluster.address)
	p.ClusterDNS = address
	if address == "" && slices.ContainsFunc(clusters, func(c Cluster) bool { return c.address() != "" }) {
		p.addresses = each
	}
}

// common is what all of the clusters have, empty where they differ; and what each
// of them has, for people.
func common(clusters []Cluster, of func(Cluster) string) (value, each string) {
	var texts []string
	for i, cluster := range clusters {
		texts = append(texts, fmt.Sprintf("%s: %s", cluster.Name, cmp.Or(of(cluster), "none")))
		if i == 0 {
			value = of(cluster)
		} else if of(cluster) != value {
			value = ""
		}
	}
	return value, strings.Join(texts, ", ")
}
