package address

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// finish tells what is published, and brings the lists into order.
func (f *fold) finish(o outcome) Choice {
	c := f.choice
	slices.SortFunc(o.published, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.part.id, b.part.id), cmp.Compare(a.target, b.target))
	})
	c.Sets = sets(o.published)
	c.Sources = make([]intent.Source, 0, len(o.published))
	for _, p := range o.published {
		if p.ip.IsValid() && isDocumentation(p.ip) {
			f.warn("%s of %s is an address for documentation, which nobody can reach; it is published all the same", p.target, p.seen())
		}
		c.Sources = append(c.Sources, intent.Source{
			Target: p.target, Cluster: p.Service.Cluster, Object: p.in(), Field: p.Field, Kind: string(p.Candidate.kind()), Via: p.via,
		})
		c.Ports = append(c.Ports, p.Observation.Ports...)
	}
	c.Warnings = f.choice.Warnings
	c.Rejected = append(c.Rejected, o.rejected...)
	order(&c)
	return c
}

// sets are those of entries, which are ordered by type, set identifier and target.
func sets(published []placed) []Set {
	var out []Set
	for n, p := range published {
		if n == 0 || p.kind() != published[n-1].kind() || p.part.id != published[n-1].part.id {
			out = append(out, Set{Type: p.kind(), ID: p.part.id, Weight: p.part.weight, Region: p.part.region, Location: p.part.location})
		}
		set := &out[len(out)-1]
		if len(set.Targets) == 0 || set.Targets[len(set.Targets)-1] != p.target {
			set.Targets = append(set.Targets, p.target)
		}
	}
	return out
}

func order(c *Choice) {
	for _, list := range []*[]string{&c.Warnings, &c.Health, &c.Unknown, &c.Absent} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(c.Ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Number, b.Number))
	})
	c.Ports = slices.Compact(c.Ports)
	slices.SortFunc(c.Sources, func(a, b intent.Source) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Via, b.Via))
	})
	c.Sources = slices.Compact(c.Sources)
	slices.SortFunc(c.Rejected, func(a, b intent.Rejection) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
	})
	c.Rejected = slices.Compact(c.Rejected)
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
