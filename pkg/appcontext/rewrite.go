package appcontext

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/kv"
)

// Rewrite replaces, adds and removes single objects of one app and cluster in
// the current context, and touches the pointer, in one transaction. Objects
// that stay are not written. The error has the code ErrStale when p is no
// longer the owner's pointer.
func (s *Store) Rewrite(ctx context.Context, p Pointer, app, cluster string, put []bundle.Object, remove []bundle.ID) (Pointer, error) {
	current, err := s.ObjectsOn(ctx, onlyApp(p, app, cluster), cluster)
	if err != nil {
		return Pointer{}, err
	}
	next := p
	next.Touched++
	next.Clusters = maps.Clone(p.Clusters)
	after := replaced(current, put, remove)
	var ops []kv.Op
	for _, o := range put {
		ops = append(ops, putJSON(resourceKey(p.ContextID, app, o.ID), string(o.JSON)))
	}
	for _, id := range remove {
		ops = append(ops, kv.Delete(resourceKey(p.ContextID, app, id)))
	}
	if len(after) != len(current) || len(remove) > 0 {
		ops = append(ops, putText(orderKey(p.ContextID, app, cluster), map[string]any{"resorder": order(after)}))
	}
	if !slices.Contains(p.Clusters[cluster], app) {
		next.Clusters[cluster] = append(slices.Clone(p.Clusters[cluster]), app)
		ops = append(ops, putJSON(appKey(p.ContextID, app), app), putJSON(clusterKey(p.ContextID, app, cluster), cluster))
	}
	ops = append(ops, putJSON(pointerKey(p.Owner), next))
	done, revision, err := s.kv.Txn(ctx, []kv.Compare{p.unchanged()}, ops...)
	if err != nil {
		return Pointer{}, err
	}
	if !done {
		return Pointer{}, stale("the current context of " + string(p.Owner) + " has changed")
	}
	return next.at(revision), nil
}

// onlyApp narrows a pointer to one app on one cluster.
func onlyApp(p Pointer, app, cluster string) Pointer {
	narrow := p
	narrow.Clusters = map[string][]string{}
	if slices.Contains(p.Clusters[cluster], app) {
		narrow.Clusters[cluster] = []string{app}
	}
	return narrow
}

func replaced(current bundle.Bundle, put []bundle.Object, remove []bundle.ID) []bundle.Object {
	var out []bundle.Object
	for _, o := range current {
		gone := slices.Contains(remove, o.ID) || slices.ContainsFunc(put, func(n bundle.Object) bool { return n.ID == o.ID })
		if !gone {
			out = append(out, o)
		}
	}
	out = append(out, put...)
	slices.SortFunc(out, func(a, b bundle.Object) int { return bundle.Compare(a.ID, b.ID) })
	return out
}
