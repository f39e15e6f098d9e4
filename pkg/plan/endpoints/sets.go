package endpoints

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Sets are what a host publishes of a choice: only the types that the host
// allows. A host is never an alias of itself.
func Sets(host plan.Host, c address.Choice) []address.Set {
	var out []address.Set
	for _, set := range c.Sets {
		itself := set.Type == "CNAME" && slices.Contains(set.Targets, host.Name)
		if allows(host, set.Type) && !itself {
			out = append(out, set)
		}
	}
	return out
}

// allows tells whether a host has records of a type: all but SRV, where it names
// none.
func allows(host plan.Host, kind string) bool {
	if len(host.Types) == 0 {
		return kind != "SRV"
	}
	return slices.Contains(host.Types, kind)
}
