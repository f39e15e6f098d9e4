package state

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// ApplyMoves takes a group's uses to the homes that their records have now, and
// forgets former homes when the move is over. It answers whether it has. The group's
// DNSEndpoints have to go from these homes, but not from where the group is now.
func (s *Store) ApplyMoves(ctx context.Context, l *Lifecycle) (moved bool, err error) {
	was, kept := *l, 0
	uses, refs, former := slices.Clone(l.Uses), slices.Clone(l.Refs), []Use(nil)
	for n, use := range l.Uses {
		r, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return false, err
		}
		if r.MovedFrom(use) {
			uses[n].Cluster = r.Record.Home.String()
			former, refs = append(former, use), append(refs, r.Record.Home.Path())
		}
	}
	for _, use := range l.Former {
		r, err := s.RecordLifecycle(ctx, use.Record)
		if err != nil {
			return false, err
		}
		if r.Moving {
			former, kept = append(former, use), kept+1
		}
	}
	if kept == len(l.Former) && kept == len(former) {
		return false, nil
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return false, err
	}
	slices.SortFunc(uses, CompareUses)
	slices.Sort(refs)
	l.Uses, l.Former, l.Refs = uses, former, slices.Compact(refs)
	l.TrackRemovedClusters(WithFormer(was.Placed(release.Group), was.Former), WithFormer(l.Placed(release.Group), former))
	return true, nil
}

// Placed is the group of a lifecycle's release with the names that it still
// has, where its uses say.
func (l *Lifecycle) Placed(g plan.Group) plan.Group {
	return relocate(WithoutTransferred(g, l.Transferred), l.Uses)
}

// relocate is a group with its public bindings where the uses say. A release
// freezes the home that a record had when it was made.
func relocate(g plan.Group, uses []Use) plan.Group {
	g.Bindings = slices.Clone(g.Bindings)
	for n := range g.Bindings {
		b := &g.Bindings[n]
		at := slices.IndexFunc(uses, func(u Use) bool { return serves(u, *b) })
		if at >= 0 {
			b.Cluster = uses[at].Cluster
		}
	}
	return mentioned(g)
}

// AtHome is a group with its public bindings where their records live now. A move takes
// along the names of releases that are over, too, and no use tells where.
func (s *Store) AtHome(ctx context.Context, g plan.Group) (plan.Group, error) {
	g.Bindings = slices.Clone(g.Bindings)
	for n := range g.Bindings {
		b := &g.Bindings[n]
		record, err := s.RecordLifecycle(ctx, RecordPath(g, *b))
		if err != nil {
			return g, err
		}
		b.Cluster = record.Relocated(Use{Scope: b.Scope, Cluster: b.Cluster}).Cluster
	}
	return g, nil
}

// WithFormer is a group of Placed whose public bindings are in former homes as well.
func WithFormer(g plan.Group, former []Use) plan.Group {
	if len(former) == 0 {
		return g
	}
	bindings := slices.Clone(g.Bindings)
	for _, use := range former {
		for n, b := range g.Bindings {
			if serves(use, b) {
				bindings[n].Former = use.Cluster
				b.Cluster = use.Cluster
				bindings = append(bindings, b)
			}
		}
	}
	g.Bindings = bindings
	return mentioned(g)
}

// serves says whether a use is the one of a public binding, wherever it is.
func serves(u Use, b plan.Binding) bool {
	return b.Scope == intent.Public && u.Scope == intent.Public && u.Record.Name() == b.Record
}

// mentioned is a group with the clusters that it touches.
func mentioned(g plan.Group) plan.Group {
	known := map[string]plan.Cluster{}
	for name := range Reached(g) {
		known[name] = plan.Cluster{Name: name}
	}
	for _, c := range g.Clusters {
		if _, still := known[c.Name]; still {
			known[c.Name] = c
		}
	}
	g.Clusters = nil
	for _, name := range slices.Sorted(maps.Keys(known)) {
		g.Clusters = append(g.Clusters, known[name])
	}
	return g
}
