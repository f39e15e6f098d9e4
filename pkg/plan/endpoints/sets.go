package endpoints

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Sets are what a host publishes of a choice: only the types that the host
// allows, with weights as the DNS provider takes them. A host is never an alias
// of itself.
func Sets(host plan.Host, c address.Choice) []address.Set {
	var out []address.Set
	for _, set := range c.Sets {
		itself := set.Type == "CNAME" && slices.Contains(set.Targets, host.Name)
		if allows(host, set.Type) && !itself {
			set.Weight = share(host.Routing.Weights, set.Weight)
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

// largestWeight is what Route 53 takes at most.
const largestWeight = 255

// share brings a weight into what the DNS provider takes, beside the largest of
// all clusters; one that is positive stays so.
func share(weights map[string]int64, weight int64) int64 {
	var largest int64
	for _, w := range weights {
		largest = max(largest, w)
	}
	if weight <= 0 || largest <= largestWeight {
		return weight
	}
	return max(1, min(largestWeight, (weight*largestWeight+largest/2)/largest))
}
