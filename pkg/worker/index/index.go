// Package index keeps the current pointers in memory, by the clusters that they
// concern.
package index

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Contexts reads the current pointers.
type Contexts interface {
	// Pointers answers all current pointers and the revision they were read
	// at, linearizably.
	Pointers(ctx context.Context) ([]appcontext.Pointer, int64, error)
}

// Index is the current pointers, by cluster. The watch keeps this copy in memory
// up to date; a reader that must not see a stale copy refreshes it first.
// Whichever of them finds a change, the Index tells the clusters concerned. It
// is safe for concurrent use.
type Index struct {
	contexts Contexts
	tell     func(clusters []string)

	mu       sync.Mutex
	owners   map[appcontext.Owner]appcontext.Pointer
	clusters map[string]map[appcontext.Owner]bool
	revision int64            // of the last complete read
	moves    map[string]int64 // how often a cluster was concerned by a change
}

// New makes an empty Index. It calls tell with the clusters that a change
// concerns, perhaps none, from whichever goroutine finds the change.
func New(contexts Contexts, tell func(clusters []string)) *Index {
	return &Index{
		contexts: contexts,
		tell:     tell,
		owners:   map[appcontext.Owner]appcontext.Pointer{},
		clusters: map[string]map[appcontext.Owner]bool{},
		moves:    map[string]int64{},
	}
}

// Refresh reads all pointers, linearizably, and answers the revision they were
// read at.
func (x *Index) Refresh(ctx context.Context) (int64, error) {
	pointers, revision, err := x.contexts.Pointers(ctx)
	if err != nil {
		return 0, err
	}
	x.tell(x.replace(pointers, revision))
	return revision, nil
}

// replace takes all pointers as they were read, and answers the clusters
// concerned by what changed.
func (x *Index) replace(pointers []appcontext.Pointer, revision int64) []string {
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

// Update takes up what has changed.
func (x *Index) Update(change appcontext.Change) { x.tell(x.apply(change)) }

// apply takes up what has changed and answers the clusters concerned.
func (x *Index) apply(change appcontext.Change) []string {
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

func (x *Index) put(p appcontext.Pointer, concerned map[string]bool) {
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
func (x *Index) touch(touch appcontext.Touch, concerned map[string]bool) {
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
// Placements in.
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

// Pointers answers the pointers that have objects, Services or placements in
// the cluster, ordered by owner.
func (x *Index) Pointers(cluster string) []appcontext.Pointer {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []appcontext.Pointer
	for _, owner := range slices.Sorted(maps.Keys(x.clusters[cluster])) {
		out = append(out, x.owners[owner])
	}
	return out
}

// Suspended tells whether all of the owners, if there are any, are suspended.
func (x *Index) Suspended(owners []string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	active := func(owner string) bool { return !x.owners[appcontext.Owner(owner)].Suspended }
	return len(owners) > 0 && !slices.ContainsFunc(owners, active)
}

// Pointer answers an owner's pointer; one of nothing when it has none.
func (x *Index) Pointer(owner string) appcontext.Pointer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.owners[appcontext.Owner(owner)]
}

// Services answers the Services ("namespace/name") of the cluster whose
// addresses matter to somebody.
func (x *Index) Services(cluster string) map[string]bool {
	named := map[string]bool{}
	for _, p := range x.Pointers(cluster) {
		for _, service := range p.Services[cluster] {
			named[service] = true
		}
	}
	return named
}

// Moved counts the changes that concerned the cluster.
func (x *Index) Moved(cluster string) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.moves[cluster]
}

// Names answers all clusters that a pointer names.
func (x *Index) Names() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Sorted(maps.Keys(x.clusters))
}

// Placements answers the distinct placements, by their keys, that the cluster's
// nodes are to be held against.
func (x *Index) Placements(cluster string) map[string]placement.Placement {
	wanted := map[string]placement.Placement{}
	for _, p := range x.Pointers(cluster) {
		for _, placed := range p.Placements[cluster] {
			wanted[placed.Key()] = placed
		}
	}
	return wanted
}
