package address

import (
	"cmp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// heaviest is the greatest weight that DNS providers take.
const heaviest = 255

// route publishes entries as the policy says.
func (f *fold) route(pool []entry) outcome {
	switch f.Routing.Policy {
	case intent.Failover:
		return f.failover(pool)
	case intent.Weighted:
		if f.SetIDs {
			return f.weighted(pool)
		}
		f.warn("the DNS provider has no set identifiers, so routing.weights have no effect: all addresses are answered alike")
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

// weighted publishes a set for each cluster that has a weight. If none of them has
// anything to publish, the others share alike.
func (f *fold) weighted(pool []entry) outcome {
	of := f.shares()
	var weighty, rest []entry
	for _, e := range pool {
		if of[e.Service.Cluster] > 0 {
			weighty = append(weighty, e)
		} else {
			rest = append(rest, e)
		}
	}
	o := f.settle(weighty, of)
	if o.some() || len(rest) == 0 {
		for _, e := range rest {
			o.reject(e, noWeight, "")
		}
		return o
	}
	for _, e := range rest {
		of[e.Service.Cluster] = 1
	}
	last := f.settle(rest, of)
	last.rejected = append(last.rejected, o.rejected...)
	last.waiting = append(last.waiting, o.waiting...)
	return last
}

// shares brings the weights into the range that DNS providers take. None that is
// positive becomes 0.
func (f *fold) shares() shares {
	var most int64
	for _, weight := range f.Routing.Weights {
		most = max(most, weight)
	}
	of := shares{}
	for cluster, weight := range f.Routing.Weights {
		if most > heaviest && weight > 0 {
			weight = max(1, weight*heaviest/most)
		}
		of[cluster] = max(0, weight)
	}
	for n := range f.Offers {
		cluster := f.Offers[n].Service.Cluster
		if _, listed := of[cluster]; !listed {
			f.warn("routing.weights does not list %s, which therefore has weight 0", cluster)
		}
	}
	return of
}
