package endpoints

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Sets are what a host publishes of a choice: only the types that the host
// allows. A host is never an alias of itself.
func Sets(host plan.Host, c address.Choice) []address.Set {
	var out []address.Set
	for _, set := range c.Sets {
		allowed := len(host.Types) == 0 || slices.Contains(host.Types, set.Type)
		itself := set.Type == "CNAME" && slices.Contains(set.Targets, host.Name)
		if allowed && !itself {
			out = append(out, set)
		}
	}
	return out
}
