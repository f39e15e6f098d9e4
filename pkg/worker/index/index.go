// Package index keeps the current pointers in memory, by the clusters that they
// concern.
package index

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Contexts reads the current pointers.
type Contexts interface {
	// Pointers answers all current pointers and the revision they were read
	// at, linearizably.
	Pointers(ctx context.Context) ([]appcontext.Pointer, int64, error)

	// Moved answers the revision at which a pointer or touch was written last, and
	// the revision that this was read at, linearizably.
	Moved(ctx context.Context) (last, revision int64, err error)
}

// Index is the current pointers, by cluster. The watch keeps this copy in memory
// up to date; a reader that must not see a stale copy refreshes it first.
// Whichever of them finds a change, the Index tells the clusters concerned. It
// is safe for concurrent use.
type Index struct {
	contexts Contexts
	tell     func(clusters []string)
	reading  chan struct{} // has room for one reader of all pointers, when the watch is late

	mu       sync.Mutex
	owners   map[appcontext.Owner]appcontext.Pointer
	clusters map[string]*concern // none without owners
	revision int64               // up to which all is known
	torn     int64               // up to which something was written that cannot be read; 0: nothing
	grown    chan struct{}       // closed when more is known than before; nil: nobody waits
	moves    map[string]int64    // how often a cluster was concerned by a change
	recent   map[string][]move   // by cluster, the last of moves
}

// New makes an empty Index. It calls tell with the clusters that a change
// concerns, perhaps none, from whichever goroutine finds the change.
func New(contexts Contexts, tell func(clusters []string)) *Index {
	return &Index{
		contexts: contexts,
		tell:     tell,
		reading:  make(chan struct{}, 1),
		owners:   map[appcontext.Owner]appcontext.Pointer{},
		clusters: map[string]*concern{},
		moves:    map[string]int64{},
		recent:   map[string][]move{},
	}
}

// patience is how long a reader waits for the watch before it reads all pointers itself.
const patience = time.Second

// Refresh answers when the Index knows all pointers as they were at a revision since the call,
// and that revision. It asks for the last write of a pointer, and waits until the watch has
// told of it. If that takes long, it reads all pointers.
func (x *Index) Refresh(ctx context.Context) (int64, error) {
	last, revision, err := x.contexts.Moved(ctx)
	if err != nil {
		return 0, err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if x.await(waiting, last) {
		return revision, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select { // one of those who have waited reads for all
	case x.reading <- struct{}{}:
		defer func() { <-x.reading }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if known, _ := x.knows(last); known {
		return revision, nil
	}
	return x.Read(ctx)
}

// await waits until all is known that was written up to a revision. It answers whether that
// is so. It does not wait for what cannot be read.
func (x *Index) await(ctx context.Context, revision int64) bool {
	for {
		known, more := x.knows(revision)
		if known || more == nil {
			return known
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}

// knows tells whether all is known that was written up to a revision. If not, more is closed
// once more is known; nil: the watch has told of something that cannot be read.
func (x *Index) knows(revision int64) (known bool, more <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.torn > 0:
		return false, nil
	case x.revision >= revision:
		return true, nil
	case x.grown == nil:
		x.grown = make(chan struct{})
	}
	return false, x.grown
}

// grow notes up to which revision all is known.
func (x *Index) grow(revision int64) {
	x.revision = max(x.revision, revision)
	if x.grown != nil {
		close(x.grown)
		x.grown = nil
	}
}

// Read reads all pointers, linearizably, and answers the revision they were
// read at.
func (x *Index) Read(ctx context.Context) (int64, error) {
	pointers, revision, err := x.contexts.Pointers(ctx)
	if err != nil {
		return 0, err
	}
	x.tell(x.replace(pointers, revision))
	return revision, nil
}

// replace takes all pointers as they were read, and answers the clusters
// concerned by what changed. It leaves owners of which the watch has told more.
func (x *Index) replace(pointers []appcontext.Pointer, revision int64) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if revision < max(x.revision, x.torn) {
		return nil // an older answer, come late
	}
	x.torn = 0
	x.grow(revision)
	concerned := map[string]bool{}
	listed := map[appcontext.Owner]bool{}
	for _, p := range pointers {
		listed[p.Owner] = true
		if x.owners[p.Owner].Revision() <= revision {
			x.put(p, concerned)
		}
	}
	for owner, known := range x.owners {
		if !listed[owner] && known.Revision() <= revision {
			x.put(appcontext.Pointer{Owner: owner}, concerned)
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
	touches := change.Touches
	for _, p := range change.Pointers {
		for len(touches) > 0 && touches[0].Revision() < p.Revision() {
			x.touch(touches[0], concerned)
			touches = touches[1:]
		}
		if before, ok := x.owners[p.Owner]; ok && before.Revision() > p.Revision() {
			continue // a refresh was faster than the watch
		}
		x.put(p, concerned)
	}
	for _, touch := range touches {
		x.touch(touch, concerned)
	}
	if change.Unreadable {
		x.torn = change.Revision
	}
	if !change.Lost {
		x.grow(change.Revision)
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
		if known && samePart(before, p, cluster) {
			continue
		}
		concerned[cluster] = true
		x.move(cluster, move{p.Owner, differing(before.Services[cluster], p.Services[cluster])})
		x.clusters[cluster].remove(before, cluster)
		if len(x.clusters[cluster].owners) == 0 {
			delete(x.clusters, cluster)
		}
	}
	for _, cluster := range clustersOf(p) {
		if known && samePart(before, p, cluster) {
			continue
		}
		concerned[cluster] = true
		x.move(cluster, move{p.Owner, differing(before.Services[cluster], p.Services[cluster])})
		if x.clusters[cluster] == nil {
			x.clusters[cluster] = newConcern()
		}
		x.clusters[cluster].add(p, cluster)
	}
	if p.ContextID == "" && p.Seq == 0 { // it has never had a context, or has retired
		delete(x.owners, p.Owner)
		return
	}
	x.owners[p.Owner] = p
}

// differing lists the Services that are in one of two lists.
func differing(before, after []string) []string {
	if slices.Equal(before, after) {
		return nil
	}
	in := map[string]int{}
	for _, service := range before {
		in[service] |= 1
	}
	for _, service := range after {
		in[service] |= 2
	}
	maps.DeleteFunc(in, func(_ string, lists int) bool { return lists == 3 })
	return slices.Sorted(maps.Keys(in))
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
		x.move(cluster, move{owner: p.Owner})
	}
}

// samePointer tells whether the pointers say the same.
func samePointer(a, b appcontext.Pointer) bool {
	return a.ContextID == b.ContextID && a.Seq == b.Seq && a.Revision() == b.Revision()
}

// samePart tells whether a pointer is of the same context as the one before, and says the same of
// a cluster. A context gains a cluster or an app while its objects are rewritten; the others
// have nothing to do then.
func samePart(before, p appcontext.Pointer, cluster string) bool {
	samePlacement := func(a, b placement.Placement) bool { return a.Key() == b.Key() }
	return before.ContextID == p.ContextID && before.Seq == p.Seq && before.Suspended == p.Suspended &&
		reflect.DeepEqual(before.Verify, p.Verify) && !p.TouchedSince(before) &&
		slices.Equal(before.Clusters[cluster], p.Clusters[cluster]) && slices.Equal(before.Services[cluster], p.Services[cluster]) &&
		slices.EqualFunc(before.Placements[cluster], p.Placements[cluster], samePlacement)
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

// Since answers the pointers of the owners that have changed in the cluster since it had
// moved so often, and how often it has moved. An owner that has left the cluster has an
// empty pointer. If too much has changed, all answers that these are all
// pointers of the cluster, ordered by owner.
func (x *Index) Since(cluster string, moved int64) (pointers []appcontext.Pointer, now int64, all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	missed, now, all := x.missed(cluster, moved)
	var owners []appcontext.Owner
	for _, m := range missed {
		owners = append(owners, m.owner)
	}
	if all {
		owners = slices.Collect(maps.Keys(x.clusters[cluster].all()))
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	for _, owner := range owners {
		p := appcontext.Pointer{Owner: owner}
		if x.clusters[cluster].all()[owner] {
			p = x.owners[owner]
		}
		pointers = append(pointers, p)
	}
	return pointers, now, all
}

// Serves tells whether a pointer has objects, Services or placements in the cluster.
func (x *Index) Serves(cluster string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.clusters[cluster] != nil
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

// missed answers the changes of a cluster since a number of them, and how many there were by now. Of too many, it answers
// none, and all. The index is locked.
func (x *Index) missed(cluster string, since int64) (moves []move, now int64, all bool) {
	recent, now := x.recent[cluster], x.moves[cluster]
	missed := now - since
	if since < 0 || missed > int64(len(recent)) {
		return nil, now, true
	}
	return recent[int64(len(recent))-missed:], now, false
}

// Services answers the Services ("namespace/name") of the cluster whose
// addresses matter to somebody.
func (x *Index) Services(cluster string) map[string]bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	named := map[string]bool{}
	if of := x.clusters[cluster]; of != nil {
		for namespace := range of.services {
			of.within(namespace, named)
		}
	}
	return named
}

// ServicesIn adds to a set those of one namespace.
func (x *Index) ServicesIn(cluster, namespace string, set map[string]bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if of := x.clusters[cluster]; of != nil {
		of.within(namespace, set)
	}
}

// Asks tells whether the addresses of a Service matter to somebody.
func (x *Index) Asks(cluster, namespace, service string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	of := x.clusters[cluster]
	return of != nil && of.services[namespace][service] > 0
}

// Renamed answers the Services ("namespace/name") that owners have begun or ceased to name since a number of changes
// (Moved). With all, it may be any of them: there were too many changes, or moved is
// below zero.
func (x *Index) Renamed(cluster string, moved int64) (services []string, now int64, all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	missed, now, all := x.missed(cluster, moved)
	for _, m := range missed {
		services = append(services, m.services...)
	}
	return services, now, all
}

// Watched answers the namespaces of these Services, in order, and whether there are
// placements. Its cost grows with the namespaces, and not with the Services.
func (x *Index) Watched(cluster string) (namespaces []string, placements bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	of := x.clusters[cluster]
	if of == nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(of.services)), len(of.placements) > 0
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
	x.mu.Lock()
	defer x.mu.Unlock()
	wanted := map[string]placement.Placement{}
	if of := x.clusters[cluster]; of != nil {
		for key, placed := range of.placements {
			wanted[key] = placed.placement
		}
	}
	return wanted
}
