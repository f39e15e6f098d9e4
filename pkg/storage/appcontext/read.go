package appcontext

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// ObjectsOn answers the objects that the pointer's context holds for one cluster, ordered
// by ID. It also answers the one revision of the store that they were read at. The error
// has the code ErrStale when the pointer has changed meanwhile, because its context may
// be incomplete then.
func (s *Store) ObjectsOn(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, int64, error) {
	revision, err := s.revisionOf(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	objects, err := s.objectsOn(ctx, p, cluster, revision)
	return objects, revision, err
}

// WithdrawnFrom answers the objects that the owner had on a cluster when its last context
// was removed, ordered by ID. It has none while there is a context.
func (s *Store) WithdrawnFrom(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, error) {
	last := p
	last.ContextID, last.Clusters = p.Previous, p.Withdrawn
	objects, _, err := s.ObjectsOn(ctx, last, cluster)
	return objects, err
}

// Objects answers all objects of the pointer's context, ordered by ID, as
// ObjectsOn does.
func (s *Store) Objects(ctx context.Context, p Pointer) (bundle.Bundle, error) {
	if len(p.Clusters) == 0 {
		return bundle.Collect(nil)
	}
	revision, err := s.revisionOf(ctx, p)
	if err != nil {
		return nil, err
	}
	var objects []bundle.Object
	sharing := bundle.NewSharing()
	for _, cluster := range sortedKeys(p.Clusters) {
		part, err := s.objectsOn(ctx, p, cluster, revision)
		if err != nil {
			return nil, err
		}
		objects = append(objects, sharing.Share(part...)...)
	}
	return bundle.Collect(objects)
}

// revisionOf is a revision of the store at which the pointer is as it was read.
func (s *Store) revisionOf(ctx context.Context, p Pointer) (int64, error) {
	item, revision, err := s.kv.Get(ctx, pointerKey(p.Owner))
	if err != nil {
		return 0, err
	}
	if item != nil && item.ModRevision != p.revision || item == nil && p.revision > 0 {
		return 0, stale("the current context of " + string(p.Owner) + " has changed")
	}
	return revision, nil
}

func (s *Store) objectsOn(ctx context.Context, p Pointer, cluster string, revision int64) (bundle.Bundle, error) {
	var objects []bundle.Object
	for _, app := range p.Clusters[cluster] {
		kept, err := s.folder(ctx, p, app, cluster, revision)
		if err != nil {
			return nil, err
		}
		for _, o := range kept.objects {
			objects = append(objects, o.Object)
		}
	}
	return bundle.Collect(objects)
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

// folder reads what is kept for one app and cluster as of a revision, 0 for now.
func (s *Store) folder(ctx context.Context, p Pointer, app, cluster string, revision int64) (folder, error) {
	f, prefix := folder{}, resourcesKey(p.ContextID, app, cluster)
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: prefix, Revision: revision})
	if errors.Is(err, kv.ErrCompacted) {
		return f, stale("what " + string(p.Owner) + " had is no longer kept")
	}
	if err != nil {
		return f, err
	}
	for _, item := range items {
		if item.Key == orderKey(p.ContextID, app, cluster) {
			f.listed = item.ModRevision
		}
		if !isResource(prefix, item.Key) {
			continue
		}
		o, err := parseResource(cluster, app, item)
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
