package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// ClaimRequest is a name that a release gives in a view of DNS, or a namespace of a cluster
// that it reads or writes.
type ClaimRequest struct {
	Key     nameclaim.Key
	Host    string      // as the group gives the name; of a namespace, empty
	Prefix  string      // of the keys of etcd, where the name is one; else empty
	Trees   []string    // the prefixes below which the name is that of a whole key, ordered
	Through intent.Path // the record; of a namespace, the logical cloud
	Types   []string    // of all who give the name in the release; none: all but SRV
	Purpose Purpose     // of a namespace: what for
	By      string      // of a namespace: the app, Service or DNS CR intent that it is for, if any
}

func (b ClaimRequest) String() string {
	if cluster, is := NamespaceOn(b.Key); is {
		return fmt.Sprintf("namespace %q of cluster %s", b.Key.Name, cluster)
	}
	return b.Key.Name
}

// Seen is the name of a request with the host name that it is asked for by.
func (b ClaimRequest) Seen() string { return SeenAs(b.Key.Name, b.Prefix, b.Host) }

// SeenAs is a name with the host name below a key prefix that resolvers see as it.
func SeenAs(name, prefix, host string) string {
	if host == "" || host == name {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("%q, as resolvers may see %q below coredns-prefix %s,", name, host, prefix)
}

// And is a request for what two are for. It is through a record of which the names are
// keys, if one is such: by that others see what lies above or below.
func (b ClaimRequest) And(other ClaimRequest) ClaimRequest {
	types, trees := bothTypes(b.Types, other.Types), slices.Compact(slices.Sorted(slices.Values(slices.Concat(b.Trees, other.Trees))))
	if len(b.Trees) == 0 && len(other.Trees) > 0 {
		b = other
	}
	b.Types, b.Trees = types, trees
	return b
}

// CompareRequests orders claim requests by their keys.
func CompareRequests(a, b ClaimRequest) int { return CompareKeys(a.Key, b.Key) }

// CompareKeys orders keys by view, then name.
func CompareKeys(a, b nameclaim.Key) int {
	return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.Name, b.Name))
}

// bothTypes are the types that one of two allows; none: all but SRV.
func bothTypes(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// ViewMoves refuses to take the names of a record in use into another view of DNS, or
// into or out of keys of etcd. The names are not claimed there, and nobody
// removes them from where they were.
func (p *RecordProposal) ViewMoves() []intent.Field {
	was, is := p.Before.Record.Spec, p.Frozen.Spec
	switch {
	case !p.InUse:
		return nil
	case (state.KeyPrefix(was) == "") != (state.KeyPrefix(is) == ""):
		return []intent.Field{{
			Pointer: string(p.Frozen.Path) + "#/spec/provider",
			Detail:  fmt.Sprintf("the names of the provider, which is in use, would move from %s to %s; only one of the two answers a name with all names below it, which others may own; make another provider, associate it, and remove this one", was.Provider, is.Provider),
		}}
	case state.KeyPrefix(is) != state.KeyPrefix(was):
		return []intent.Field{{
			Pointer: string(p.Frozen.Path) + "#/spec/external-dns-parameters/coredns-prefix",
			Detail:  "resolvers would see the names of the provider as other names, which others may own; make a provider for these, and associate it",
		}}
	case state.ScopesWithin(state.PrivateScopes(is), state.PrivateScopes(was)):
		return nil
	}
	return []intent.Field{{
		Pointer: string(p.Frozen.Path) + "#/spec/external-dns-parameters",
		Detail:  "the names of the provider would move to other zones, where others may own them; make a provider for these, and associate it",
	}}
}

// HolderOf is the document that holds the namespaces of a release as long as it exists.
// It is the logical cloud, or the project of a name.
func HolderOf(g plan.Group) intent.Path {
	project := intent.Join("projects", g.Project.Name)
	if intent.IsName(g.Path) {
		return project
	}
	return project.Child("logical-clouds", g.LogicalCloud)
}

// InNamespaces begins the views that namespaces of clusters are in.
const InNamespaces = "namespace-"

// NamespaceOn is the cluster that a key is a namespace of.
func NamespaceOn(key nameclaim.Key) (cluster string, is bool) {
	return strings.CutPrefix(key.View, InNamespaces)
}

// Purpose is what a release wants a namespace of a cluster for.
type Purpose string

// Purposes of namespaces, as errors say them.
const (
	OfCloud    Purpose = "of the logical cloud"
	OfApp      Purpose = "of an app"
	OfServices Purpose = "of Services that are published"
	OfProject  Purpose = "of the project, for external-dns and DNSEndpoints"
	OfDNS      Purpose = "of the cluster's DNS"
)
