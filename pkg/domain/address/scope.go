package address

import (
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

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
