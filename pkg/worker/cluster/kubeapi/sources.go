package kubeapi

import (
	"cmp"
	"fmt"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/source"
)

// sources are a Service and what leads to it, each list in the order of names.
type sources struct {
	service *source.Service
	slices  []*source.Slice
	offers  []address.Candidate // of what leads to the Service
	nodes   []*node
	unseen  map[address.Kind]string
}

// offersAtMost is how many candidates of each kind, and how many ports, are offered at
// most. An answer of DNS does not hold more, and neither does the store.
const offersAtMost = 128

// observation is what all of them offer together.
func (s *sources) observation() address.Observation {
	o := address.Observation{
		Found: true, Candidates: slices.Concat(s.service.Offers, s.offers), ClusterIPs: s.service.ClusterIPs,
		Ports: s.service.Ports, Readiness: s.readiness(), Unseen: s.unseen,
	}
	if s.service.NodePorts {
		o.Candidates = append(o.Candidates, s.onNodes()...)
	}
	for i, ip := range s.service.ClusterIPs {
		o.Candidates = append(o.Candidates, address.Candidate{Kind: address.ClusterIP, Target: ip, Field: fmt.Sprintf("spec.clusterIPs[%d]", i)})
	}
	if s.service.Headless {
		o.Candidates = append(o.Candidates, s.endpoints()...)
	}
	kinds := map[address.Kind]int{}
	o.Candidates = slices.DeleteFunc(o.Candidates, func(c address.Candidate) bool {
		kinds[c.Kind]++
		return kinds[c.Kind] > offersAtMost
	})
	o.Ports = o.Ports[:min(len(o.Ports), offersAtMost)]
	return o
}

// readiness counts the endpoints, of the family that has the most ready ones. Of
// a Service without a selector, or without slices, nothing is known.
func (s *sources) readiness() *address.Readiness {
	if !s.service.Selects || len(s.slices) == 0 {
		return nil
	}
	families := map[string]address.Readiness{}
	for _, slice := range s.slices {
		count := families[slice.Family]
		count.Total += len(slice.Endpoints)
		for _, e := range slice.Endpoints {
			if e.Ready {
				count.Ready++
			}
		}
		families[slice.Family] = count
	}
	var most address.Readiness
	for _, count := range families {
		if cmp.Or(cmp.Compare(count.Ready, most.Ready), cmp.Compare(count.Total, most.Total)) > 0 {
			most = count
		}
	}
	return &most
}

// onNodes are the addresses of the nodes that lead to the Service. If some are ready, are
// not taken out of load balancing, or have a requested endpoint, the others are left out.
func (s *sources) onNodes() []address.Candidate {
	nodes := narrow(s.nodes, func(n *node) bool { return n.ready })
	nodes = narrow(nodes, func(n *node) bool { return !n.excluded })
	if s.service.Local {
		ready := s.endpointNodes()
		nodes = narrow(nodes, func(n *node) bool { _, has := ready[n.Name]; return has })
		nodes = narrow(nodes, func(n *node) bool { return ready[n.Name] })
	}
	var external, internal []address.Candidate
	for _, n := range nodes {
		for _, c := range n.offers {
			if c.Kind == address.Node {
				external = append(external, c)
			} else {
				internal = append(internal, c)
			}
		}
	}
	return slices.Concat(external, internal)
}

// narrow leaves those for which it holds, or all where it holds for none.
func narrow[E any](all []E, holds func(E) bool) []E {
	var some []E
	for _, e := range all {
		if holds(e) {
			some = append(some, e)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// endpointNodes are the nodes with an endpoint, and whether one there is ready.
func (s *sources) endpointNodes() map[string]bool {
	ready := map[string]bool{}
	for _, slice := range s.slices {
		for _, e := range slice.Endpoints {
			ready[e.Node] = ready[e.Node] || e.Ready
		}
	}
	return ready
}

// endpoints are the addresses of the ready endpoints, or of all where none is.
func (s *sources) endpoints() []address.Candidate {
	var ready, rest []address.Candidate
	for _, slice := range s.slices {
		if slice.Family == string(discoveryv1.AddressTypeFQDN) {
			continue
		}
		for i, e := range slice.Endpoints {
			for n, ip := range e.Addresses {
				c := address.Candidate{Kind: address.Endpoint, Object: slice.Object, Target: ip, Field: fmt.Sprintf("endpoints[%d].addresses[%d]", i, n)}
				if e.Ready {
					ready = append(ready, c)
				} else {
					rest = append(rest, c)
				}
			}
		}
	}
	if len(ready) == 0 {
		ready = rest
	}
	slices.SortStableFunc(ready, func(a, b address.Candidate) int { return cmp.Compare(a.Target, b.Target) })
	return ready
}
