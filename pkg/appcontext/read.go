package appcontext

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/kv"
)

// ObjectsOn answers the objects that the pointer's context holds for one
// cluster, ordered by ID. The error has the code ErrStale when the pointer has
// changed meanwhile: what was read may then be a mixture, and is not given.
func (s *Store) ObjectsOn(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, error) {
	var objects []bundle.Object
	for _, app := range p.Clusters[cluster] {
		prefix := resourcesKey(p.ContextID, app, cluster)
		items, _, err := s.kv.Range(ctx, kv.Range{Prefix: prefix})
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if !isResource(prefix, item.Key) {
				continue
			}
			o, err := parseResource(cluster, app, item)
			if err != nil {
				return nil, err
			}
			objects = append(objects, o)
		}
	}
	if err := s.unchanged(ctx, p); err != nil {
		return nil, err
	}
	return bundle.Collect(objects)
}

// WithdrawnFrom answers the objects that the owner had on a cluster when its
// last context was taken away, ordered by ID; none while it has a context.
func (s *Store) WithdrawnFrom(ctx context.Context, p Pointer, cluster string) (bundle.Bundle, error) {
	last := p
	last.ContextID, last.Clusters = p.Previous, p.Withdrawn
	return s.ObjectsOn(ctx, last, cluster)
}

// Objects answers all objects of the pointer's context, ordered by ID.
func (s *Store) Objects(ctx context.Context, p Pointer) (bundle.Bundle, error) {
	var objects []bundle.Object
	for _, cluster := range sortedKeys(p.Clusters) {
		part, err := s.ObjectsOn(ctx, p, cluster)
		if err != nil {
			return nil, err
		}
		objects = append(objects, part...)
	}
	return bundle.Collect(objects)
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

func (s *Store) unchanged(ctx context.Context, p Pointer) error {
	now, err := s.Current(ctx, p.Owner)
	if err != nil {
		return err
	}
	if now.Revision() != p.Revision() {
		return stale("the current context of " + string(p.Owner) + " has changed")
	}
	return nil
}

// Providers are owners too: the external-dns of a record, in one scope and
// cluster, has a context that belongs to no app.
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
