package endpoints

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
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

// Records are the sets of a host that have other types than those of addresses.
func Records(host plan.Host) []address.Set {
	var out []address.Set
	for _, r := range host.Records {
		out = append(out, address.Set{Type: r.Type, Targets: r.Values, TTL: r.TTL})
	}
	return out
}

// allows tells whether a host has records of a type: all but SRV, where it names
// none. Types other than those of addresses come from the host's own records.
func allows(host plan.Host, kind string) bool {
	if slices.ContainsFunc(host.Records, func(r intent.RecordSet) bool { return r.Type == kind }) {
		return true
	}
	if len(host.Types) == 0 {
		return kind != "SRV"
	}
	return slices.Contains(host.Types, kind)
}
