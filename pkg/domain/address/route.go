package address

import (
	"cmp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// route publishes entries as the policy says.
func (f *fold) route(pool []entry) outcome {
	switch f.Routing.Policy {
	case intent.Failover:
		return f.failover(pool)
	case intent.Weighted, intent.Latency, intent.Geo:
		if f.SetIDs {
			return f.divided(pool, f.shares())
		}
		f.warn("the DNS provider has no set identifiers, so routing.%s have no effect: all addresses are answered alike", f.Routing.Lists())
	}
	return f.settle(pool, nil)
}

// failover publishes the addresses, of any family, of the first cluster that has some:
// clusters of the order, then the others by name.
func (f *fold) failover(pool []entry) outcome {
	at := func(e entry) int {
		if n := slices.Index(f.Routing.Order, e.Service.Cluster); n >= 0 {
			return n
		}
		return len(f.Routing.Order)
	}
	pool = slices.SortedStableFunc(slices.Values(pool), func(a, b entry) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Service.Cluster, b.Service.Cluster))
	})
	var all outcome
	for start := 0; start < len(pool); {
		cluster := pool[start].Service.Cluster
		end := start
		for end < len(pool) && pool[end].Service.Cluster == cluster {
			end++
		}
		o := f.settle(pool[start:end], nil)
		o.rejected = append(all.rejected, o.rejected...)
		o.waiting = append(all.waiting, o.waiting...)
		all, start = o, end
		if o.some() {
			for _, e := range pool[end:] {
				all.reject(e, standby, cluster)
			}
			break
		}
	}
	return all
}
