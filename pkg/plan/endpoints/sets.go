package endpoints

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Set is the targets of one name and type.
type Set struct {
	Type    string   // A, AAAA or CNAME
	Targets []string // sorted, never empty
}

// Sets are what a host publishes of a choice, by type: only the types that the
// host allows, and only those that have targets. A host is never an alias of
// itself.
func Sets(host plan.Host, c address.Choice) []Set {
	aliases := slices.DeleteFunc(slices.Clone(c.CNAME), func(target string) bool { return target == host.Name })
	var out []Set
	for _, set := range []Set{{"A", c.A}, {"AAAA", c.AAAA}, {"CNAME", aliases}} {
		allowed := len(host.Types) == 0 || slices.Contains(host.Types, set.Type)
		if allowed && len(set.Targets) > 0 {
			set.Targets = slices.Sorted(slices.Values(set.Targets))
			out = append(out, set)
		}
	}
	return out
}
