package release

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// ground is what the names of a group follow from besides what is observed.
type ground struct {
	inputs  []Input // the documents that say so, of those asked for that exist
	asked   []intent.Path
	group   plan.Group // with its bindings where their records are
	records map[string]plan.Record
	drained drainedClusters

	pointer  appcontext.Pointer // of the context that was made of it
	bindings map[string][]int   // of the group, by their Service ("namespace/name")
}

// ground reads what a deployed group's names follow from. The documents are
// asked for their revisions first: what is read afterwards is at least as new.
func (s *Service) ground(ctx context.Context, l Lifecycle) (*ground, error) {
	release, err := s.loadRelease(ctx, l.ContextID)
	if err == nil {
		err = intent.CheckSchema("release "+l.ContextID, release.Schema)
	}
	if err != nil {
		return nil, err
	}
	on := &ground{group: withFormer(l.placed(release.Group), l.Former)}
	if err := s.ask(ctx, on, l); err != nil {
		return nil, err
	}
	if on.records, err = s.pinned(ctx, release.Group); err != nil {
		return nil, err
	}
	list, err := s.drained(ctx)
	on.drained = list.clusters
	return on, err
}

// ask notes the documents that a group's names follow from, and which of them
// are there: the group's own, which may suspend it, its lifecycle, those of its
// records, and what says which clusters are drained. It notes none when they are
// no longer what the step has read.
func (s *Service) ask(ctx context.Context, on *ground, l Lifecycle) error {
	group := on.group.Path
	on.asked = []intent.Path{group, lifecyclePath(group), drainedPath}
	for _, use := range l.Uses {
		on.asked = append(on.asked, lifecyclePath(use.Record))
	}
	slices.Sort(on.asked)
	on.asked = slices.Compact(on.asked)
	docs, err := s.Documents.GetAll(ctx, on.asked)
	if err != nil {
		return err
	}
	drained := drainedClusters{}
	for _, doc := range docs {
		moved := false
		switch doc.Path {
		case group:
			moved, err = l.suspendedBy(doc)
		case lifecyclePath(group):
			moved = doc.Revision != l.revision
		case drainedPath:
			err = json.Unmarshal(doc.Body, &drained)
		}
		if moved || err != nil {
			return err
		}
	}
	var clusters []intent.Path
	for _, name := range slices.Sorted(maps.Keys(drained)) {
		ref, _ := intent.ParseCluster(name)
		clusters = append(clusters, ref.Path())
	}
	if len(clusters) > 0 {
		more, err := s.Documents.GetAll(ctx, clusters)
		if err != nil {
			return err
		}
		on.asked, docs = append(on.asked, clusters...), append(docs, more...)
	}
	on.inputs = inputsOf(docs)
	return nil
}

// holds tells whether none of the documents has changed.
func (s *Service) holds(ctx context.Context, on *ground) (bool, error) {
	docs, err := s.Documents.GetAll(ctx, on.asked)
	return err == nil && slices.Equal(inputsOf(docs), on.inputs), err
}

// grounds are those of groups, as their last whole steps found them.
type grounds struct {
	mu sync.Mutex
	of map[intent.Path]*ground
}

// keep remembers a group's ground, with the pointer of the context that was made
// of it; nil: it has none. What EMCO deploys follows from more than a ground
// knows, and what is suspended does not follow at all.
func (all *grounds) keep(group intent.Path, on *ground, is appcontext.Pointer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if on == nil || len(on.inputs) == 0 || on.group.Orchestrated != nil || is.Suspended {
		delete(all.of, group)
		return
	}
	if all.of == nil {
		all.of = map[intent.Path]*ground{}
	}
	on.pointer = is
	on.pointer.Services, on.pointer.Placements = nil, nil // large, and not asked for
	on.group.DNS = nil
	if !slices.ContainsFunc(on.group.Clusters, func(c plan.Cluster) bool { return c.Directory != "" }) {
		on.group.Apps = nil // nobody reads addresses out of their manifests
	}
	on.bindings = map[string][]int{}
	for n, b := range on.group.Bindings {
		service := b.Namespace + "/" + b.Service
		on.bindings[service] = append(on.bindings[service], n)
	}
	all.of[group] = on
}

func (all *grounds) get(group intent.Path) *ground {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.of[group]
}
