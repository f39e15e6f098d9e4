package provider

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

const (
	namePrefix    = "external-dns-"
	clusterSuffix = "-cluster"
	longestName   = 52 // so that the names of its pods are host names
	longestSlug   = 30
)

// DeploymentName is the name of the Deployment of a record in a scope, and of what
// belongs to it. It is external-dns-{record}, with -cluster behind in the cluster scope,
// if that is an RFC 1123 label of at most 52 characters. Otherwise it is
// external-dns-{slug}-{hash}. A record whose own name ends in -cluster gets a hash in the
// public scope: its plain name is that of another record's cluster scope.
func DeploymentName(record string, scope intent.Scope) string {
	name := namePrefix + record
	if scope == intent.ClusterScope {
		name += clusterSuffix
	}
	taken := scope != intent.ClusterScope && strings.HasSuffix(record, clusterSuffix)
	if plan.IsLabel(name) && len(name) <= longestName && !taken {
		return name
	}
	return namePrefix + plan.Slug(record, longestSlug) + "-" + plan.Hash(record, string(scope))
}

// OwnerID is the txt-owner-id with which the external-dns marks its names. It is the
// provider's own txt-owner-id, else the generated one, which in the cluster scope differs
// from cluster to cluster.
func OwnerID(p plan.Provider) string {
	if own := externaldns.Value(p.Record.Spec.Parameters, "txt-owner-id"); own != "" {
		return own
	}
	if p.Scope == intent.ClusterScope {
		return plan.ClusterOwnerID(p.Record.Installation, p.Record.UID, p.Cluster)
	}
	return p.Record.OwnerID
}

// ListedUsers is how many groups the annotation lists. More would have each group that
// comes or goes read and change what is said of all.
const ListedUsers = 20

// users are the groups that use the external-dns as the seed writes them,
// "{composite app}/{version}/{group}", joined by commas. Long lists end in an ellipsis.
func users(paths []string) string {
	paths = slices.Sorted(slices.Values(paths))
	var names []string
	for _, path := range paths[:min(len(paths), ListedUsers)] {
		p := intent.Path(path)
		names = append(names, p.Parent().Name()+"/"+p.Name())
	}
	text := strings.Join(names, ",")
	if len(paths) > ListedUsers {
		text += ",…"
	}
	return text
}
