package address

import (
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Ranks of kinds in a scope: only the best kind of a Service counts. Addresses for
// clients outside are the best, in each address family by itself. A Service's nodes and
// its cluster IPs have different ports, so that they never stand under one name.
const (
	outward = iota
	nodes
	moreNodes
	inside
	nowhere // the kind is never published in the scope
)

func rank(scope intent.Scope, kind Kind) int {
	public := scope == intent.Public
	switch kind {
	case Node:
		if public {
			return nodes
		}
		return moreNodes
	case NodeInternal:
		if public {
			return nowhere
		}
		return nodes
	case ClusterIP:
		if public {
			return nowhere
		}
		return inside
	case Endpoint:
		return inside
	case LoadBalancer, External, Ingress, Gateway, Fixed:
		return outward
	}
	return nowhere // a kind without a rank must not become public
}

// best is the best kind of a Service: whether it has something for clients outside, in
// each family, and the best rank of the rest, in both together. A host name is of both
// families. Rejected addresses count, too: a Service with a load balancer is not meant to
// be reached by its nodes.
type best struct {
	four, six bool
	rest      int
}

func bestOf(scope intent.Scope, candidates []Candidate) best {
	b := best{rest: nowhere}
	for n := range candidates {
		if rank := rank(scope, candidates[n].kind()); rank != outward {
			b.rest = min(b.rest, rank)
			continue
		}
		ip, err := netip.ParseAddr(candidates[n].Target)
		four := ip.Unmap().Is4()
		b.four = b.four || err != nil || four
		b.six = b.six || err != nil || !four
	}
	return b
}

// outranks tells whether the Service offers something better than an address of
// a rank: than one that is never published, anything.
func (b best) outranks(ip netip.Addr, rank int) bool {
	if rank == nowhere && (b.four || b.six) {
		return true
	}
	return ip.Is4() && b.four || !ip.Is4() && b.six || b.rest < rank
}
