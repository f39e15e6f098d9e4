// Package autopath is what both sides of "DNS autopath in PodSpec" agree on. A pod gets
// one search domain in place of its search paths, which it stands for. A node's cache
// sends the paths to the cluster's DNS in an EDNS0 option. It is pure.
//
// Source: the seed "DNS autopath in PodSpec". The seed's option code 15 has
// become another option's since (RFC 8914), so the default is the first of those
// for local use.
package autopath

import (
	"slices"
	"strings"
)

const (
	// Zone holds the search domains. No other name is in it.
	Zone = "ap.k8s.io"

	// Option is the default code of the EDNS0 option: the lowest for local use (RFC
	// 6891).
	Option uint16 = 65001

	// OptionMax is the highest code for local use.
	OptionMax uint16 = 65534

	// LocalIP is where a node's cache listens unless told otherwise.
	LocalIP = "169.254.20.10"

	// Ndots is how many dots a name needs for a resolver to ask for it as it is,
	// before it appends search domains.
	Ndots = 5

	label = "search" // begins a search domain
)

// SearchDomain is the single search domain of the pods of a namespace.
func SearchDomain(namespace, clusterDomain string) string {
	return strings.Join([]string{label, namespace, clusterDomain, Zone}, ".")
}

// Paths are the search paths that SearchDomain stands for, each once. Paths of the policy
// ClusterFirst come first, and then others, as the node has them.
func Paths(namespace, clusterDomain string, others ...string) []string {
	paths := []string{namespace + ".svc." + clusterDomain, "svc." + clusterDomain, clusterDomain}
	for _, other := range others {
		if !slices.Contains(paths, other) {
			paths = append(paths, other)
		}
	}
	return paths
}

// Split divides a name in the search domain of some namespace into the name that
// was asked for and the namespace. Names and the domain are canonical: in lower
// case, without a dot at the end. The base is empty for the search domain
// itself; ok is false for every name that is in no search domain of the cluster.
func Split(name, clusterDomain string) (base, namespace string, ok bool) {
	rest, ok := cutSuffix(name, Zone)
	if !ok {
		return "", "", false
	}
	if rest, ok = cutSuffix(rest, clusterDomain); !ok {
		return "", "", false
	}
	rest, namespace = cutLast(rest)
	base, last := cutLast(rest)
	return base, namespace, last == label && namespace != ""
}

// Exists tells whether a name is a search domain of the cluster, in any namespace, or an
// ancestor of one. Such a name has no records, and every other name of Zone that Split
// does not divide is missing. Names and the domain are canonical.
func Exists(name, clusterDomain string) bool {
	parent := clusterDomain + "." + Zone
	if parent == name || strings.HasSuffix(parent, "."+name) && strings.HasSuffix("."+name, "."+Zone) {
		return true
	}
	namespace, ok := cutSuffix(name, parent)
	if !ok {
		return false
	}
	namespace = strings.TrimPrefix(namespace, label+".")
	return !strings.Contains(namespace, ".") && check(namespace) == nil
}

// cutSuffix takes a domain and the dot before it off the end of a longer name.
func cutSuffix(name, domain string) (rest string, ok bool) {
	rest, ok = strings.CutSuffix(name, domain)
	if !ok || rest == "" || rest[len(rest)-1] != '.' {
		return "", false
	}
	return rest[:len(rest)-1], true
}

// cutLast takes the last label off.
func cutLast(name string) (rest, last string) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", name
	}
	return name[:dot], name[dot+1:]
}
