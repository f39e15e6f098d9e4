package appcontext

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// MostRewritten is how many changes one Rewrite takes: each is compared.
const MostRewritten = kv.MaxOps/2 - 2

// Rewrite changes single objects of one app and cluster in the current context, at most
// MostRewritten, and notes that beside the pointer, in one transaction. Objects that stay
// are not written, nor is the pointer, unless the app had none on the cluster. The error
// has the code ErrStale when p is no longer the owner's pointer, or a comparison of the
// change or of when fails.
func (s *Store) Rewrite(ctx context.Context, p Pointer, app, cluster string, changes []bundle.Change, when ...kv.Compare) (Pointer, error) {
	if err := p.changeable(); err != nil {
		return Pointer{}, err
	}
	r := rewriting{pointer: p, next: p, app: app, when: slices.Clone(when)}
	if slices.Contains(p.Clusters[cluster], app) {
		var err error
		if r.folder, err = s.folder(ctx, p, app, cluster); err != nil {
			return Pointer{}, err
		}
	}
	for _, c := range changes {
		if !r.change(c) {
			return Pointer{}, stale(c.ID.String() + " has changed")
		}
	}
	r.finish(cluster)
	r.ops = append(r.ops, s.touch(ctx, p, r.put, Touch{})...)
	revision, err := s.swap(ctx, p, r.when, r.ops...)
	if err != nil {
		return Pointer{}, err
	}
	if r.places {
		r.next.revision = revision
	}
	r.next.touched = revision
	return r.next, nil
}

// rewriting gathers one Rewrite's transaction.
type rewriting struct {
	pointer, next Pointer
	app           string
	folder        // as it is after the changes so far
	when          []kv.Compare
	ops           []kv.Op
	put           []string // keys
	lists         bool     // there are other objects than before
	places        bool     // the app is new on the cluster
}

// change takes a change up, unless the object is not what it says.
func (r *rewriting) change(c bundle.Change) bool {
	key := resourceKey(r.pointer.ContextID, r.app, c.ID)
	at, found := slices.BinarySearchFunc(r.objects, c.ID, func(o stored, id bundle.ID) int { return bundle.Compare(o.ID, id) })
	was := stored{}
	if found {
		was = r.objects[at]
	}
	if !bytes.Equal(was.JSON, c.Old) {
		return false
	}
	r.when = append(r.when, kv.Compare{Key: key, ModRevision: was.revision})
	o := stored{Object: bundle.Object{ID: c.ID, App: r.app, JSON: c.New}}
	switch {
	case c.Action == bundle.Delete:
		r.ops, r.lists = append(r.ops, kv.Delete(key)), true
		r.objects = slices.Delete(r.objects, at, at+1)
		return true
	case found:
		r.objects[at] = o
	default:
		r.objects, r.lists = slices.Insert(r.objects, at, o), true
	}
	r.ops, r.put = append(r.ops, putJSON(key, text(c.New))), append(r.put, key)
	return true
}

// finish adds what the changes have as their consequence.
func (r *rewriting) finish(cluster string) {
	p := r.pointer
	if r.lists {
		r.put = []string{resourcesKey(p.ContextID, r.app, cluster)} // who is told looks at all of them
		after := make([]bundle.Object, len(r.objects))
		for n, o := range r.objects {
			after[n] = o.Object
		}
		key := orderKey(p.ContextID, r.app, cluster)
		r.when = append(r.when, kv.Compare{Key: key, ModRevision: r.listed})
		r.ops = append(r.ops, putText(key, map[string]any{"resorder": order(after)}))
	}
	if !slices.Contains(p.Clusters[cluster], r.app) {
		r.places = true
		r.next.Clusters = maps.Clone(p.Clusters)
		if r.next.Clusters == nil {
			r.next.Clusters = map[string][]string{}
		}
		r.next.Clusters[cluster] = append(slices.Clone(p.Clusters[cluster]), r.app)
		r.ops = append(r.ops, putJSON(appKey(p.ContextID, r.app), r.app), putJSON(clusterKey(p.ContextID, r.app, cluster), cluster), putJSON(pointerKey(p.Owner), r.next))
	}
}
