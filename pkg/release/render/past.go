package render

import (
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// past is what an owner publishes now. A host name may have to keep it, although another
// Service or home makes another DNSEndpoint of it.
type past struct {
	objects bundle.Bundle
	group   plan.Group
	left    map[place]map[string][]address.Set // of host names that have no binding where they are; nil: not looked for yet
}

// place is where names are published.
type place struct {
	record  string
	scope   intent.Scope
	cluster string // of names that each cluster publishes for itself
}

func placeOf(record string, scope intent.Scope, cluster string) place {
	if scope == intent.Public {
		cluster = ""
	}
	return place{record, scope, cluster}
}

// sets are the sets that the hosts of a binding have now, by host name.
func (p *past) sets(b plan.Binding) map[string][]address.Set {
	sets := state.Previous(p.objects, p.group, b)
	for _, host := range b.Hosts {
		if len(sets[host.Name]) > 0 {
			continue
		}
		if p.left == nil {
			p.left = unasked(p.objects, p.group)
		}
		if left := p.left[placeOf(b.Record, b.Scope, b.Cluster)][host.Name]; len(left) > 0 {
			sets[host.Name] = slices.Clone(left)
		}
	}
	return sets
}

// unasked are the sets of host names that no binding asks for any more where they are, by
// place and host name. In the former home of a record, no host name counts as asked for. If
// several DNSEndpoints have a host name, the first one counts.
func unasked(objects bundle.Bundle, g plan.Group) map[place]map[string][]address.Set {
	asked := map[bundle.ID]plan.Binding{}
	for _, b := range g.Bindings {
		asked[endpoints.ID(g, b)] = b
	}
	for _, b := range g.Bindings {
		if b.Former != "" {
			b.Cluster = b.Former
			delete(asked, endpoints.ID(g, b))
		}
	}
	left := map[place]map[string][]address.Set{}
	for _, o := range objects {
		if o.Published == nil {
			continue
		}
		at, sets := placeOf(o.Published.Record, intent.Scope(o.Published.Scope), o.Cluster), state.PublishedSets(o.Published)
		for _, host := range asked[o.ID].Hosts {
			delete(sets, host.Name)
		}
		maps.Copy(sets, left[at])
		left[at] = sets
	}
	return left
}
