package syncer

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// index is the current pointers, by cluster. It is a copy in memory that the
// watch keeps up to date; what must not be stale is refreshed first. Whoever
// finds out that something has changed, the clusters concerned are told of it.
type index struct {
	contexts Contexts
	tell     func(clusters []string)

	mu       sync.Mutex
	owners   map[appcontext.Owner]appcontext.Pointer
	clusters map[string]map[appcontext.Owner]bool
	revision int64            // of the last complete read
	moves    map[string]int64 // how often a cluster was concerned by a change
}

func newIndex(contexts Contexts, tell func(clusters []string)) *index {
	return &index{
		contexts: contexts,
		tell:     tell,
		owners:   map[appcontext.Owner]appcontext.Pointer{},
		clusters: map[string]map[appcontext.Owner]bool{},
		moves:    map[string]int64{},
	}
}

// refresh reads all pointers, linearizably, and answers the revision they were
// read at.
func (x *index) refresh(ctx context.Context) (int64, error) {
	pointers, revision, err := x.contexts.Pointers(ctx)
	if err != nil {
		return 0, err
	}
	x.tell(x.replace(pointers, revision))
	return revision, nil
}

// replace takes all pointers as they were read, and answers the clusters
// concerned by what changed.
func (x *index) replace(pointers []appcontext.Pointer, revision int64) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if revision < x.revision {
		return nil // an older answer, come late
	}
	x.revision = revision
	concerned := map[string]bool{}
	listed := map[appcontext.Owner]bool{}
	for _, p := range pointers {
		listed[p.Owner] = true
		x.put(p, concerned)
	}
	for owner := range x.owners {
		if !listed[owner] {
			x.put(appcontext.Pointer{Owner: owner}, concerned)
			delete(x.owners, owner)
		}
	}
	return slices.Sorted(maps.Keys(concerned))
}

// update takes up what has changed.
func (x *index) update(change appcontext.Change) { x.tell(x.follow(change)) }

// follow takes up what has changed and answers the clusters concerned.
func (x *index) follow(change appcontext.Change) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	concerned := map[string]bool{}
	for _, p := range change.Pointers {
		if before, ok := x.owners[p.Owner]; ok && before.Revision() > p.Revision() {
			continue // a refresh was faster than the watch
		}
		x.put(p, concerned)
	}
	for _, touch := range change.Touches {
		x.touch(touch, concerned)
	}
	return slices.Sorted(maps.Keys(concerned))
}

func (x *index) put(p appcontext.Pointer, concerned map[string]bool) {
	before, known := x.owners[p.Owner]
	if known && samePointer(before, p) {
		x.owners[p.Owner] = p
		return
	}
	for _, cluster := range clustersOf(before) {
		concerned[cluster] = true
		x.moves[cluster]++
		delete(x.clusters[cluster], p.Owner)
		if len(x.clusters[cluster]) == 0 {
			delete(x.clusters, cluster)
		}
	}
	for _, cluster := range clustersOf(p) {
		concerned[cluster] = true
		x.moves[cluster]++
		if x.clusters[cluster] == nil {
			x.clusters[cluster] = map[appcontext.Owner]bool{}
		}
		x.clusters[cluster][p.Owner] = true
	}
	x.owners[p.Owner] = p
}

// touch takes up that single objects have changed.
func (x *index) touch(touch appcontext.Touch, concerned map[string]bool) {
	p, known := x.owners[touch.Owner]
	if !known || p.Revision() >= touch.Revision() {
		return // it is of a context that has gone, or a refresh was faster
	}
	x.owners[p.Owner] = p.After(touch)
	clusters := touch.Clusters()
	if clusters == nil {
		clusters = clustersOf(p)
	}
	for _, cluster := range clusters {
		concerned[cluster] = true
		x.moves[cluster]++
	}
}

// samePointer tells whether the pointers say the same.
func samePointer(a, b appcontext.Pointer) bool {
	return a.ContextID == b.ContextID && a.Seq == b.Seq && a.Revision() == b.Revision()
}

// clustersOf lists the clusters that a pointer has objects, Services or
// placements in.
func clustersOf(p appcontext.Pointer) []string {
	if p.ContextID == "" {
		return nil
	}
	all := map[string]bool{}
	for cluster := range p.Clusters {
		all[cluster] = true
	}
	for cluster := range p.Services {
		all[cluster] = true
	}
	for cluster := range p.Placements {
		all[cluster] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// pointers answers the pointers that have objects, Services or placements in
// the cluster, ordered by owner.
func (x *index) pointers(cluster string) []appcontext.Pointer {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []appcontext.Pointer
	for _, owner := range slices.Sorted(maps.Keys(x.clusters[cluster])) {
		out = append(out, x.owners[owner])
	}
	return out
}

// suspended tells whether all of the owners, if there are any, are suspended.
func (x *index) suspended(owners []string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, owner := range owners {
		if !x.owners[appcontext.Owner(owner)].Suspended {
			return false
		}
	}
	return len(owners) > 0
}

// pointer answers an owner's pointer; one of nothing when it has none.
func (x *index) pointer(owner string) appcontext.Pointer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.owners[appcontext.Owner(owner)]
}

// services answers the Services ("namespace/name") of the cluster whose
// addresses matter to somebody.
func (x *index) services(cluster string) map[string]bool {
	named := map[string]bool{}
	for _, p := range x.pointers(cluster) {
		for _, service := range p.Services[cluster] {
			named[service] = true
		}
	}
	return named
}

// moved counts the changes that concerned the cluster.
func (x *index) moved(cluster string) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.moves[cluster]
}

// names answers all clusters that a pointer names.
func (x *index) names() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Sorted(maps.Keys(x.clusters))
}
