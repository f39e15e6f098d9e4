// Package names shows the documents of names, which their lifecycles keep, at paths of
// their own.
//
// A name is published when it is accepted, so its document and its release change in
// one write: the swap of its lifecycle (ADR 0050). Store makes that look like any
// other document to its readers.
package names

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// Store reads names out of lifecycles, and everything else as the store below it.
type Store struct{ intent.Store }

// New makes a Store over another one.
func New(below intent.Store) *Store { return &Store{below} }

// lifecycleOf is where the document of a name is kept.
func lifecycleOf(name intent.Path) intent.Path {
	return intent.Join(intent.LifecycleCollection, string(name))
}

// read is the document of a name in its lifecycle; false for a lifecycle without one.
func read(lifecycle intent.Document) (intent.Document, bool, error) {
	var kept struct {
		Name *intent.NameDocument `json:"name"`
	}
	if err := json.Unmarshal(lifecycle.Body, &kept); err != nil || kept.Name == nil {
		return intent.Document{}, false, err
	}
	path := strings.TrimPrefix(string(lifecycle.Path), intent.LifecycleCollection+"/")
	return kept.Name.At(intent.Path(path)), true, nil
}

// Get answers a document. A name is NotFound unless its lifecycle keeps a document.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if !intent.IsName(path) {
		return s.Store.Get(ctx, path)
	}
	lifecycle, err := s.Store.Get(ctx, lifecycleOf(path))
	if err == nil {
		doc, kept, failed := read(lifecycle)
		if kept || failed != nil {
			return doc, failed
		}
	}
	if err == nil || intent.CodeOf(err) == intent.NotFound {
		err = intent.ErrNotFound(path)
	}
	return intent.Document{}, err
}

// GetAll answers those of the documents that exist, in the order of the paths.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	below, names := make([]intent.Path, len(paths)), false
	for n, path := range paths {
		below[n] = path
		if intent.IsName(path) {
			below[n], names = lifecycleOf(path), true
		}
	}
	if !names {
		return s.Store.GetAll(ctx, paths)
	}
	docs, err := s.Store.GetAll(ctx, slices.Compact(slices.Sorted(slices.Values(below))))
	if err != nil {
		return nil, err
	}
	found := make(map[intent.Path]intent.Document, len(docs))
	for _, doc := range docs {
		found[doc.Path] = doc
	}
	out := make([]intent.Document, 0, len(docs))
	for n, path := range paths {
		doc, there := found[below[n]]
		if there && below[n] != path {
			if doc, there, err = read(doc); err != nil {
				return nil, err
			}
		}
		if there {
			out = append(out, doc)
		}
	}
	return out, nil
}

// List answers a page of a collection.
func (s *Store) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	if !intent.IsName(intent.Path(options.Collection + "/x")) {
		return s.Store.List(ctx, options)
	}
	after, err := draft.After(options)
	if err != nil {
		return intent.Page{}, err
	}
	options.PathsOnly = false // whether a lifecycle keeps a document is known by its body
	collection := options.Collection + "/"
	options.NamePrefix, options.Collection = collection+options.NamePrefix, intent.LifecycleCollection
	if after != "" {
		options.Continue = draft.Cursor(collection + after)
	}
	page, err := s.Store.List(ctx, options)
	if last := len(page.Items) - 1; page.Continue != "" && last >= 0 {
		page.Continue = draft.Cursor(strings.TrimPrefix(page.Items[last].Path.Name(), collection))
	}
	items := make([]intent.Document, 0, len(page.Items))
	for _, lifecycle := range page.Items {
		doc, kept, err := read(lifecycle)
		if err != nil {
			return page, err
		}
		if kept {
			items = append(items, doc)
		}
	}
	page.Items = items
	return page, err
}

// errOwned is a fault of the program: only releases write names.
var errOwned = errors.New("a name is written with its release alone")

// Put writes everything but names.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	if intent.IsName(write.Path) {
		return intent.Document{}, errOwned
	}
	return s.Store.Put(ctx, write)
}

// Delete removes everything but names.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	if intent.IsName(path) {
		return errOwned
	}
	return s.Store.Delete(ctx, path, condition)
}

// DeleteAll removes everything but names.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	if slices.ContainsFunc(paths, intent.IsName) {
		return errOwned
	}
	return s.Store.DeleteAll(ctx, paths)
}
