// Package clusters drains clusters, and abandons clusters that never come back.
package clusters

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Operator drains and abandons clusters.
type Operator struct {
	*state.Store
	Renderer *render.Renderer

	// Refuses judges a drain of one cluster by the safety rules.
	Refuses func(ctx context.Context, before, after state.DrainedClusters) error

	told recent.Memory[toldDrain, bool]
}

// UsesOf returns what a cluster is used for. Each use has the first document that has been
// released with it, or that is yet to be removed.
func (s *Operator) UsesOf(ctx context.Context, cluster intent.Path) (map[intent.ClusterUse]intent.Path, error) {
	name := intent.ClusterOf(cluster).String()
	owners := map[intent.Path]state.Lifecycle{}
	if err := s.EachGroup(ctx, cluster, func(owner intent.Path, l state.Lifecycle) { owners[owner] = l }); err != nil {
		return nil, err
	}
	by := map[intent.ClusterUse]intent.Path{}
	note := func(use intent.ClusterUse, owner intent.Path) {
		if first, known := by[use]; !known || owner < first {
			by[use] = owner
		}
	}
	for owner, l := range owners {
		running := slices.Concat(l.Uses, l.Leaving, l.Draining, l.Former)
		if slices.ContainsFunc(running, func(u state.Use) bool { return u.Cluster == name }) {
			note(intent.UseHome, owner) // wherever the release had its home
		}
		if slices.Contains(l.RemovedClusters, name) {
			for _, use := range []intent.ClusterUse{intent.UseHome, intent.UseApps, intent.UseDNS} {
				note(use, owner) // objects are left, of one use or another
			}
		}
	}
	maps.DeleteFunc(owners, func(_ intent.Path, l state.Lifecycle) bool { return !l.Deployed() })
	read := 0
	err := s.EachRelease(ctx, owners, func(_ state.Lifecycle, g plan.Group) {
		read++
		for _, use := range resolve.UsesAt(g, name) {
			if use != intent.UseHome {
				note(use, g.Path)
			}
		}
	})
	if err == nil && read < len(owners) {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: "another release has just taken the place of one that uses " + name + "; try again"}
	}
	return by, err
}
