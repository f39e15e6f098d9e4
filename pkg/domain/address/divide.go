package address

import (
	"cmp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// heaviest is the greatest weight that DNS providers take.
const heaviest = 255

// divided publishes the sets of the clusters that have some. If none of these clusters has
// anything to publish, the others answer.
func (f *fold) divided(pool []entry, of shares) outcome {
	var listed, rest []entry
	for _, e := range pool {
		if len(of[e.Service.Cluster]) > 0 {
			listed = append(listed, e)
		} else {
			rest = append(rest, e)
		}
	}
	o := f.settle(listed, of)
	if o.some() || len(rest) == 0 {
		f.answerEverywhere(&o)
		for _, e := range rest {
			if f.Routing.Policy == intent.Weighted {
				o.reject(e, noWeight, "")
			} else {
				o.reject(e, notListed, f.Routing.Lists())
			}
		}
		return o
	}
	var last outcome
	if f.Routing.Policy == intent.Weighted {
		last = f.settle(rest, alike(rest))
	} else {
		last = f.settle(rest, nil)
	}
	last.rejected = append(last.rejected, o.rejected...)
	last.waiting = append(last.waiting, o.waiting...)
	return last
}

// shares are the sets of the clusters that the policy lists: of weights one for each
// cluster, else one for each region or location.
func (f *fold) shares() shares {
	var of shares
	switch f.Routing.Policy {
	case intent.Weighted:
		of = weightsOf(f.Routing)
	case intent.Latency:
		of = shares{}
		for cluster, region := range f.Routing.Regions {
			of[cluster] = []share{{id: region, region: region}}
		}
	default:
		of = shares{}
		for cluster, locations := range f.Routing.Locations {
			for _, location := range locations {
				of[cluster] = append(of[cluster], share{id: location, location: location})
			}
		}
	}
	listed := f.Routing.Listed()[f.Routing.Lists()]
	for n := range f.Offers {
		cluster := f.Offers[n].Service.Cluster
		switch {
		case slices.Contains(listed, cluster):
		case f.Routing.Policy == intent.Weighted:
			f.warn("routing.weights does not list %s, which therefore has weight 0", cluster)
		default:
			f.warn("routing.%s does not list %s, which therefore answers only while no other cluster can", f.Routing.Lists(), cluster)
		}
	}
	return of
}

// weightsOf brings the weights into the range that DNS providers take. None that is
// positive becomes 0, and a cluster without one has no set.
func weightsOf(routing intent.Routing) shares {
	var most int64
	for _, weight := range routing.Weights {
		most = max(most, weight)
	}
	of := shares{}
	for cluster, weight := range routing.Weights {
		if weight <= 0 {
			continue
		}
		if most > heaviest {
			weight = max(1, weight*heaviest/most)
		}
		of[cluster] = []share{{id: cluster, weight: weight}}
	}
	return of
}

// answerEverywhere gives the location default to what the other locations publish, while
// its own clusters have nothing: most clients would be left without an answer.
func (f *fold) answerEverywhere(o *outcome) {
	if f.Routing.Policy != intent.Geo || f.Routing.Unanswered() || !o.some() {
		return
	}
	if slices.ContainsFunc(o.published, func(p placed) bool { return p.part.location == intent.Everywhere }) {
		return
	}
	all := slices.SortedFunc(slices.Values(o.published), func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.Service.Cluster, b.Service.Cluster), cmp.Compare(a.target, b.target))
	})
	for _, p := range all {
		if p.kind() == "CNAME" && p.target != all[0].target {
			continue // DNS allows one alias in a set
		}
		o.published = append(o.published, placed{p.entry, share{id: intent.Everywhere, location: intent.Everywhere}})
	}
	f.say("no cluster of the location default has an address to publish: the clusters of the other locations answer there")
}
