// Package etcd keeps documents in etcd: embedded, external or simulated, by a kv.KV.
// Every write is one transaction. It compares that the document is as it was read, and
// that the documents exist to which it newly refers. For a deletion, it compares that no
// reference key names the document.
package etcd

import (
	"context"
	"io"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Store is an intent.Store over a kv.KV. A document refers to at most 2,000
// others; body, references and keys together have to fit in one request of
// 1.5 MiB (TooLarge).
type Store struct {
	kv     kv.KV
	now    func() time.Time
	random io.Reader
	recent recent.Memory[intent.Path, reading]
	large  recent.Memory[intent.Path, reading] // of large documents
}

var _ intent.Store = (*Store)(nil)

// Option changes a Store.
type Option func(*Store)

// WithClock sets where times come from, default time.Now.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// WithRandom sets where identities come from, default crypto/rand.
func WithRandom(random io.Reader) Option { return func(s *Store) { s.random = random } }

// New makes a Store over a key-value store, which stays the caller's to close.
func New(over kv.KV, options ...Option) *Store {
	s := &Store{kv: over, now: time.Now}
	for _, option := range options {
		option(s)
	}
	return s
}

// Get implements intent.Store.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if err := draft.CheckPath(path); err != nil {
		return intent.Document{}, err
	}
	found, err := s.read(ctx, path)
	if err != nil {
		return intent.Document{}, err
	}
	if found.item == nil {
		return intent.Document{}, intent.ErrNotFound(path)
	}
	return found.doc, nil
}

// GetAll implements intent.Store.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	keys := make([]string, len(paths))
	for n, path := range paths {
		if err := draft.CheckPath(path); err != nil {
			return nil, err
		}
		keys[n] = docKey(path)
	}
	items, _, err := s.kv.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return nil, err
	}
	docs := make([]intent.Document, len(items))
	for n, item := range items {
		found, err := s.decoded(item)
		if err != nil {
			return nil, err
		}
		docs[n] = found.doc
	}
	return docs, nil
}

// List implements intent.Store.
func (s *Store) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	after, err := draft.After(options)
	if err != nil {
		return intent.Page{}, err
	}
	prefix := collectionPrefix(options.Collection)
	selected := kv.Range{Prefix: prefix + options.NamePrefix, KeysOnly: options.PathsOnly}
	if after != "" {
		selected.After = prefix + after
	}
	if options.Limit > 0 {
		selected.Limit = int64(options.Limit) + 1
	}
	selected.Bytes = int64(options.Bytes)
	items, _, err := s.kv.Range(ctx, selected)
	if err != nil {
		return intent.Page{}, err
	}
	page := intent.Page{Items: make([]intent.Document, 0, len(items))}
	size := int64(0)
	for _, item := range items {
		size += int64(len(item.Value))
		if draft.Full(options, len(page.Items), size) {
			page.Continue = draft.Cursor(page.Items[len(page.Items)-1].Path.Name())
			break
		}
		doc := intent.Document{Path: pathOf(item.Key)}
		if !options.PathsOnly {
			if doc, _, err = decode(item); err != nil {
				return intent.Page{}, err
			}
		}
		page.Items = append(page.Items, doc)
	}
	if len(items) == 1 && options.Bytes > 0 && size > int64(options.Bytes) { // nothing behind it was read
		page.Continue = draft.Cursor(page.Items[0].Path.Name())
	}
	return page, nil
}

// Referrers implements intent.Store.
func (s *Store) Referrers(ctx context.Context, path intent.Path) ([]intent.Path, error) {
	if err := draft.CheckPath(path); err != nil {
		return nil, err
	}
	return s.sources(ctx, kv.Range{Prefix: refPrefix(path), KeysOnly: true})
}

// ReferrersAfter implements intent.Store.
func (s *Store) ReferrersAfter(ctx context.Context, path, after intent.Path, limit int) ([]intent.Path, error) {
	if err := draft.CheckPath(path); err != nil {
		return nil, err
	}
	page := kv.Range{Prefix: refPrefix(path), Limit: int64(limit), KeysOnly: true}
	if after != "" {
		page.After = refKey(path, after)
	}
	return s.sources(ctx, page)
}

func (s *Store) sources(ctx context.Context, of kv.Range) ([]intent.Path, error) {
	items, _, err := s.kv.Range(ctx, of)
	if err != nil {
		return nil, err
	}
	sources := make([]intent.Path, len(items))
	for i, item := range items {
		sources[i] = sourceOf(item.Key)
	}
	return sources, nil
}

// Usage counts the document at a path and those below it, and the bytes of their
// bodies.
func (s *Store) Usage(ctx context.Context, path intent.Path) (documents int, bytes int64, err error) {
	count := func(selected kv.Range) error {
		selected.Bytes = intent.PageBytes
		for {
			items, _, err := s.kv.Range(ctx, selected)
			if err != nil {
				return err
			}
			size := int64(0)
			for _, item := range items {
				doc, _, err := decode(item)
				if err != nil {
					return err
				}
				documents, bytes, size = documents+1, bytes+int64(len(doc.Body)), size+int64(len(item.Value))
			}
			if size <= selected.Bytes {
				return nil
			}
			selected.After = items[len(items)-1].Key
		}
	}
	if err := count(kv.Range{Prefix: docRoot + string(path) + "/"}); err != nil {
		return 0, 0, err
	}
	switch doc, err := s.Get(ctx, path); {
	case err == nil:
		return documents + 1, bytes + int64(len(doc.Body)), nil
	case intent.CodeOf(err) != intent.NotFound:
		return 0, 0, err
	}
	return documents, bytes, nil
}

// Sweep implements intent.Store. There is nothing to do: a write is one
// transaction, so a crash leaves nothing behind.
func (s *Store) Sweep(context.Context) error { return nil }

// Ping implements intent.Store.
func (s *Store) Ping(ctx context.Context) error { return s.kv.Ping(ctx) }

// Close implements intent.Store. The key-value store stays open.
func (s *Store) Close() error { return nil }

// reading is a document as it was read; item and doc are empty when it does
// not exist.
type reading struct {
	path  intent.Path
	item  *kv.Item
	doc   intent.Document
	write string
}

func (s *Store) read(ctx context.Context, path intent.Path) (reading, error) {
	item, _, err := s.kv.Get(ctx, docKey(path))
	if err != nil || item == nil {
		return reading{path: path}, err
	}
	return s.decoded(*item)
}

// current is the document, nil when there is none.
func (r reading) current() *intent.Document {
	if r.item == nil {
		return nil
	}
	return &r.doc
}

// Watch tells which documents of a collection are written or deleted from a revision of
// etcd on (inclusive) until ctx ends, when the channel closes. It tells every few seconds how
// far it has come.
func (s *Store) Watch(ctx context.Context, collection string, from int64) <-chan intent.Changed {
	return changesOf(ctx, s.kv.Follow(ctx, collectionPrefix(collection), from, kv.TellEvery))
}

// WatchAll tells the same of the documents of all collections.
func (s *Store) WatchAll(ctx context.Context, from int64) <-chan intent.Changed {
	return changesOf(ctx, s.kv.Watch(ctx, docRoot, from))
}

func changesOf(ctx context.Context, batches <-chan kv.Batch) <-chan intent.Changed {
	return kv.Map(ctx, batches, func(batch kv.Batch) intent.Changed {
		changed := intent.Changed{Revision: batch.Revision, Lost: batch.Compacted}
		for _, event := range batch.Events {
			doc := intent.Document{}
			if !event.Deleted {
				if whole, _, err := decode(event.Item); err == nil {
					doc = whole
				}
			}
			changed.Paths, changed.Documents = append(changed.Paths, pathOf(event.Key)), append(changed.Documents, doc)
		}
		return changed
	})
}
