// Package schema keeps programs of different versions apart that work on the
// same documents, during an upgrade or after one was taken back. What is read
// has today's form, whatever program wrote it. What is written is marked with
// the schema version that it needs; a program that does not know it leaves the
// document as it is (intent.CheckSchema). Programs from before schema versions
// know no marks: nothing that they would lose is written while one of them
// runs, and none starts after it was.
package schema

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Change is what a schema version has changed in a kind of documents.
type Change struct {
	Schema int    // from 2
	Kind   string // the last segment of the collection, such as "projects"

	// Field is what documents have since, as a path of keys of the body:
	// "spec", "domains". A document needs the version where it has the field;
	// one with null or an empty list, object or text has it not.
	Field []string

	// Migrate makes today's form of the body of an older document. nil: that is
	// today's form, too. It leaves today's form as it is.
	Migrate func(body []byte) ([]byte, error)
}

// Changes are those of all versions that this program knows, oldest first.
func Changes() []Change {
	return []Change{
		{Schema: 2, Kind: intent.InstallationCollection, Field: []string{"id"}, Migrate: installationOf},
		{Schema: 2, Kind: "projects", Field: []string{"spec", "domains"}},
		{Schema: 2, Kind: "projects", Field: []string{"spec", "quotas"}},
		{Schema: 2, Kind: intent.LifecycleCollection, Field: []string{"taking"}},
		{Schema: 2, Kind: intent.LifecycleCollection, Field: []string{"yielded"}},
		{Schema: 2, Kind: "dns-update-records", Field: []string{"spec", "maxRemoval"}},
		{Schema: 3, Kind: "projects", Field: []string{"spec", "namespaces"}},
		{Schema: 3, Kind: "projects", Field: []string{"spec", "serviceAccounts"}},
		{Schema: 3, Kind: "clusters", Field: []string{"spec", "namespaces"}},
		{Schema: 3, Kind: "clusters", Field: []string{"spec", "kinds"}},
	}
}

// Store is an intent.Store around another, whose documents may be of any
// schema version.
type Store struct {
	intent.Store
	replicas kv.KV
	changes  map[string][]Change // by kind
}

// New makes a Store around another one. Replicas register in the key-value
// store.
func New(over intent.Store, replicas kv.KV, changes []Change) *Store {
	s := &Store{Store: over, replicas: replicas, changes: map[string][]Change{}}
	for _, change := range changes {
		s.changes[change.Kind] = append(s.changes[change.Kind], change)
	}
	return s
}

// Get implements intent.Store.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	doc, err := s.Store.Get(ctx, path)
	if err != nil {
		return doc, err
	}
	return s.migrated(doc)
}

// GetAll implements intent.Store.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	docs, err := s.Store.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	return docs, s.migrateAll(docs)
}

// List implements intent.Store.
func (s *Store) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	page, err := s.Store.List(ctx, options)
	if err != nil {
		return page, err
	}
	return page, s.migrateAll(page.Items)
}

// Put implements intent.Store. What a program that runs beside this one would
// lose is a Conflict.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	needed, field := s.needs(write)
	write.Schema = max(write.Schema, needed)
	if field != "" {
		if err := s.begin(ctx, write.Path, field); err != nil {
			return intent.Document{}, err
		}
	}
	doc, err := s.Store.Put(ctx, write)
	if err != nil {
		return doc, err
	}
	return s.migrated(doc)
}

func (s *Store) migrateAll(docs []intent.Document) error {
	for n := range docs {
		var err error
		if docs[n], err = s.migrated(docs[n]); err != nil {
			return err
		}
	}
	return nil
}

// migrated is a document in today's form. One of a newer schema version stays
// as it is.
func (s *Store) migrated(doc intent.Document) (intent.Document, error) {
	for _, change := range s.changes[kind(doc.Path)] {
		if change.Migrate == nil || change.Schema <= doc.Schema {
			continue
		}
		body, err := change.Migrate(doc.Body)
		if err != nil {
			return doc, &intent.Error{Detail: "the stored document " + string(doc.Path) + " is of an older Signpost and cannot be read", Err: err}
		}
		doc.Body = body
	}
	return doc, nil
}
