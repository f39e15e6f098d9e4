package autopath

import (
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// Expanding is the resolver of a pod of a namespace with the policy
// ClusterFirst: it knows all search paths, and asks for each.
func Expanding(server, namespace string) Resolver {
	return Resolver{
		Server: server, Ndots: autopath.Ndots,
		Search: autopath.Paths(namespace, corefile.DefaultDomain, HostSearch()...),
	}
}

// WithAutopath is the resolver of a pod of a namespace with autopath: it knows
// one search domain.
func WithAutopath(server, namespace string) Resolver {
	return Resolver{
		Server: server, Ndots: autopath.Ndots,
		Search: []string{autopath.SearchDomain(namespace, corefile.DefaultDomain)},
	}
}
