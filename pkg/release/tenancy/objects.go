package tenancy

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
)

// These limits hold for one group, beside the quotas: a plan has all of it in memory, and
// the worker of a cluster its part.
const (
	maxGroupObjects   = 50_000
	maxClusterObjects = 10_000
)

// CountObjects is how many objects a group has in clusters: each manifest on every
// cluster of its app, and a DNSEndpoint for each binding. No objects are made for it.
func CountObjects(g plan.Group) int { return sum(objectsOn(g)) }

// objectsOn counts the objects of a group by their clusters. A text that cannot be read
// counts as nothing: no object can be made of it.
func objectsOn(g plan.Group) map[string]int {
	counts := map[string]int{}
	for _, app := range g.Apps {
		manifests, _ := workloads.Manifests(app)
		for _, cluster := range app.Clusters {
			counts[cluster] += len(manifests)
		}
	}
	for _, b := range g.Bindings {
		counts[b.Cluster]++
	}
	return counts
}

func sum(counts map[string]int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// grown is how many objects a group has, and would have.
type grown struct{ before, after int }

// checkObjects fails a proposal whose group would have more objects than any may,
// and more than it has.
func (s *Keeper) checkObjects(ctx context.Context, p *resolve.Proposal) (grown, error) {
	before, after := map[string]int{}, objectsOn(p.Draft.Group)
	if p.Lifecycle.Deployed() {
		released, err := s.Ownership.Before(ctx, p.Lifecycle)
		if err != nil {
			return grown{}, err
		}
		before = objectsOn(released)
	}
	total := grown{sum(before), sum(after)}
	p.Objects = total.after
	if total.after > max(maxGroupObjects, total.before) {
		p.TooLarge = true
		p.Draft.Fail(p.Draft.In.Owner.Path, "/spec/apps", "the group would have %d objects on its clusters, but may have %d: divide its apps among several groups", total.after, maxGroupObjects)
	}
	for _, cluster := range slices.Sorted(maps.Keys(after)) {
		if n := after[cluster]; n > max(maxClusterObjects, before[cluster]) {
			p.TooLarge = true
			p.Draft.Fail(p.Draft.In.Owner.Path, "/spec/apps", "the group would have %d objects on %s, but may have %d on one cluster: divide its apps among several groups", n, cluster, maxClusterObjects)
			break // others are likely to have as many
		}
	}
	return total, nil
}
