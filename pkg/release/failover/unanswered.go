package failover

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// unanswered warns of locations that names answer no longer, although they still have answers for others. A name with
// the location default answers everywhere.
func (p *picture) unanswered() []string {
	names := map[string][]string{} // by location
	for at, shares := range p.shares {
		for _, one := range shares {
			if routing := one.host.Routing; one.stays != "" || len(one.after) == 0 || !routing.Unanswered() {
				continue
			}
			is := answering(one.host.Routing.Locations, one.able)
			for location := range answering(one.host.Routing.Locations, one.could) {
				if !is[location] && !slices.Contains(names[location], at.Name) {
					names[location] = append(names[location], at.Name)
				}
			}
		}
	}
	var out []string
	for _, location := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[location])
		out = append(out, fmt.Sprintf("clients of %s would get no answer from %s, unless a location around theirs answers; add default to the locations of a cluster", location, state.Few(names[location])))
	}
	return out
}

// answering are the locations that some clusters answer.
func answering(locations map[string][]string, clusters []string) map[string]bool {
	all := map[string]bool{}
	for _, cluster := range clusters {
		for _, location := range locations[cluster] {
			all[location] = true
		}
	}
	return all
}
