package appcontext

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// ObjectsOn answers the objects that the pointer's context holds for one cluster, ordered
// by ID. It also answers the one revision of the store that they were read at. The error
// has the code ErrStale when the pointer has changed meanwhile, because its context may
// be incomplete then. Of a cluster that the context has nothing for, nothing is read.
func (s *Store) ObjectsOn(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, int64, error) {
	if len(p.Clusters[cluster]) == 0 && p.revision > 0 {
		return nil, p.revision, nil
	}
	parts, revision, err := s.parts(ctx, p, []string{cluster})
	if err != nil {
		return nil, 0, err
	}
	return parts[0], revision, nil
}

// Together returns a context in which ObjectsOn of these pointers reads the store as it is at one time. That costs one
// request for all of them. The caller calls end when it has read them. A store that cannot do so is read one by one.
func (s *Store) Together(ctx context.Context, pointers []Pointer, cluster string) (_ context.Context, end func(), err error) {
	store, can := s.kv.(*snapshot.Store)
	if !can {
		return ctx, func() {}, nil
	}
	var ahead kv.Range
	for _, p := range pointers {
		for _, app := range p.Clusters[cluster] {
			ahead.Keys, ahead.Ahead = append(ahead.Keys, pointerKey(p.Owner)), append(ahead.Ahead, resourcesKey(p.ContextID, app, cluster))
		}
	}
	ctx, at, err := store.Begin(ctx, ahead)
	return ctx, at.End, err
}

// WithdrawnFrom answers the objects that the owner had on a cluster when its last context
// was removed, ordered by ID. It has none while there is a context.
func (s *Store) WithdrawnFrom(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, error) {
	last := p
	last.ContextID, last.Clusters = p.Previous, p.Withdrawn
	objects, _, err := s.ObjectsOn(ctx, last, cluster)
	return objects, err
}

// CurrentObjects answers all objects of the owner's current context, as Objects does.
func (s *Store) CurrentObjects(ctx context.Context, owner Owner) (bundle.Bundle, error) {
	pointer, err := s.Current(ctx, owner)
	if err != nil {
		return nil, err
	}
	return s.Objects(ctx, pointer)
}

// Objects answers all objects of the pointer's context, ordered by ID, as
// ObjectsOn does.
func (s *Store) Objects(ctx context.Context, p Pointer) (bundle.Bundle, error) {
	if len(p.Clusters) == 0 {
		return bundle.Collect(nil)
	}
	parts, _, err := s.parts(ctx, p, sortedKeys(p.Clusters))
	if err != nil {
		return nil, err
	}
	var objects []bundle.Object
	sharing := bundle.NewSharing()
	for _, part := range parts {
		objects = append(objects, sharing.Share(part...)...)
	}
	return bundle.Collect(objects)
}

// parts are the objects of clusters, as they were at one revision of the store, at which
// the pointer was as it was read. The first request reads the pointer, too.
func (s *Store) parts(ctx context.Context, p Pointer, clusters []string) (parts []bundle.Bundle, revision int64, err error) {
	for _, cluster := range clusters {
		var objects []bundle.Object
		for _, app := range p.Clusters[cluster] {
			with := kv.Range{Prefix: resourcesKey(p.ContextID, app, cluster), Revision: revision}
			if revision == 0 {
				with.Keys = []string{pointerKey(p.Owner)}
			}
			items, at, err := s.kv.Range(ctx, with)
			if errors.Is(err, kv.ErrCompacted) {
				return nil, 0, stale("what " + string(p.Owner) + " had is no longer kept")
			}
			if err == nil && revision == 0 {
				items, err = p.without(items)
				revision = at
			}
			if err != nil {
				return nil, 0, err
			}
			kept, err := s.folderOf(p, app, cluster, items)
			if err != nil {
				return nil, 0, err
			}
			for _, o := range kept.objects {
				objects = append(objects, o.Object)
			}
		}
		part, err := bundle.Collect(objects)
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, part)
	}
	if revision == 0 {
		revision, err = s.revisionOf(ctx, p)
	}
	return parts, revision, err
}

// without are the items behind that of the pointer, if the pointer is as it was read.
func (p Pointer) without(items []kv.Item) ([]kv.Item, error) {
	var found *kv.Item
	if len(items) > 0 && items[0].Key == pointerKey(p.Owner) {
		found, items = &items[0], items[1:]
	}
	return items, p.check(found)
}

// check is the error of a pointer that is stored in another form than it was read.
func (p Pointer) check(stored *kv.Item) error {
	if stored != nil && stored.ModRevision != p.revision || stored == nil && p.revision > 0 {
		return stale("the current context of " + string(p.Owner) + " has changed")
	}
	return nil
}

// revisionOf is a revision of the store at which the pointer is as it was read.
func (s *Store) revisionOf(ctx context.Context, p Pointer) (int64, error) {
	item, revision, err := s.kv.Get(ctx, pointerKey(p.Owner))
	if err == nil {
		err = p.check(item)
	}
	return revision, err
}

// folder is what a context keeps for one app and cluster.
type folder struct {
	objects []stored // ordered by ID
	listed  int64    // the revision that wrote their order, 0 for none
}

// stored is an object with the revision that wrote it.
type stored struct {
	bundle.Object
	revision int64
}

// folder reads what is kept for one app and cluster now.
func (s *Store) folder(ctx context.Context, p Pointer, app, cluster string) (folder, error) {
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: resourcesKey(p.ContextID, app, cluster)})
	if err != nil {
		return folder{}, err
	}
	return s.folderOf(p, app, cluster, items)
}

// folderOf is what keys say that is kept for one app and cluster.
func (s *Store) folderOf(p Pointer, app, cluster string, items []kv.Item) (folder, error) {
	f, prefix := folder{}, resourcesKey(p.ContextID, app, cluster)
	for _, item := range items {
		if item.Key == orderKey(p.ContextID, app, cluster) {
			f.listed = item.ModRevision
		}
		if !isResource(prefix, item.Key) {
			continue
		}
		o, err := s.parsed.resource(cluster, app, item, len(items) > 1)
		if err != nil {
			return f, err
		}
		f.objects = append(f.objects, stored{o, item.ModRevision})
	}
	slices.SortFunc(f.objects, func(a, b stored) int { return bundle.Compare(a.ID, b.ID) })
	return f, nil
}

// Meta answers the description of a context.
func (s *Store) Meta(ctx context.Context, id string) (Meta, error) {
	var m Meta
	item, _, err := s.kv.Get(ctx, metaKey(id))
	if err != nil || item == nil {
		return m, err
	}
	err = json.Unmarshal(item.Value, &m)
	return m, err
}

// providerOwner begins the owners that are providers: the external-dns of a provider, in
// one scope and cluster, has a context that belongs to no app.
const providerOwner = "provider/"

// ProviderOwner names the owner of a record's external-dns.
func ProviderOwner(recordPath, scope, cluster string) Owner {
	return Owner(providerOwner + recordPath + "/" + scope + "/" + cluster)
}

// ProviderOwners is what the owners of all of a record's external-dns begin
// with.
func ProviderOwners(recordPath string) string { return providerOwner + recordPath + "/" }

// Provider takes a ProviderOwner apart; ok is false for any other owner.
func (o Owner) Provider() (recordPath, scope, cluster string, ok bool) {
	rest, ok := strings.CutPrefix(string(o), providerOwner)
	segments := strings.Split(rest, "/")
	if n := len(segments); ok && n > 2 {
		return strings.Join(segments[:n-2], "/"), segments[n-2], segments[n-1], true
	}
	return "", "", "", false
}

// IsProvider reports whether the owner is a ProviderOwner.
func (o Owner) IsProvider() bool { return strings.HasPrefix(string(o), providerOwner) }

// Project is the name of the project that the owner belongs to, a provider with
// its record; empty for an owner outside all projects.
func (o Owner) Project() string {
	rest, within := strings.CutPrefix(strings.TrimPrefix(string(o), providerOwner), "projects/")
	if !within {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
