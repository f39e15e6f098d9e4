package resolvconf

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Preview is what a pod would get.
type Preview struct {
	ResolvConf string   `json:"resolvConf"`
	Queries    *Cost    `json:"queries,omitempty"` // of a name, if one was given
	Warnings   []string `json:"warnings"`          // [] when there is none
}

// Cost is the queries that the lookup of a name costs, at worst: when nothing is
// found.
type Cost struct {
	Before []string `json:"before"` // with policy ClusterFirst, and nothing else
	After  []string `json:"after"`
}

// Preview tells what a pod would get on the node, and for a name what its lookup
// costs; an empty name is none.
func (n Node) Preview(pod Pod, name string) Preview {
	after, warnings := n.Settings(pod)
	switch {
	case len(after.Nameservers) > 0:
	case n.HostUnknown:
		warnings = append(warnings, "hostResolvConf (or --host) was not given: the pod has the nameservers of its node, which are not known here")
	default:
		warnings = append(warnings, "the pod has no nameserver: its resolver asks 127.0.0.1")
	}
	if fault := NotTakenEverywhere(after.Searches); fault != "" {
		warnings = append(warnings, "the pod's searches "+fault)
	}
	preview := Preview{ResolvConf: Text(after), Warnings: append([]string{}, warnings...)}
	if name != "" {
		preview.Queries = &Cost{
			Before: append([]string{}, Queries(n.before(pod), name)...),
			After:  append([]string{}, untilAnswered(Queries(after, name))...),
		}
	}
	return preview
}

// before are the settings of such a pod with policy ClusterFirst, whose
// nameservers do not matter.
func (n Node) before(pod Pod) intent.PodDNSConfig {
	c := n.Host
	if !pod.HostNetwork {
		c = n.clusterFirst(pod.Namespace)
	}
	c, _ = cut(c)
	return c
}

// untilAnswered are the queries up to the first for a name in a search domain of
// autopath. That query is always answered, because all paths have been walked.
func untilAnswered(queries []string) []string {
	end := slices.IndexFunc(queries, func(query string) bool {
		name, _, _ := strings.Cut(query, " ")
		return strings.HasSuffix(name, "."+autopath.Zone+".")
	})
	if end < 0 {
		return queries
	}
	name, _, _ := strings.Cut(queries[end], " ")
	for end < len(queries) && strings.HasPrefix(queries[end], name+" ") {
		end++
	}
	return queries[:end]
}
