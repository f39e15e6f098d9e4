// Package overlay lays documents over those of a store, in memory. Readers find both, and
// the store below is never written to.
package overlay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// Store answers the documents that were put into it, and all others from the store below.
// References to secrets are not looked up, because their values are not stored.
type Store struct {
	below intent.Store

	mu   sync.RWMutex
	laid map[intent.Path]*intent.Document // nil: it was deleted
}

var _ intent.Store = (*Store)(nil)

// New makes a Store over another one.
func New(below intent.Store) *Store {
	return &Store{below: below, laid: map[intent.Path]*intent.Document{}}
}

// over is the laid document at a path, nil for a deleted one. It is not laid if the store
// below has to be asked.
func (s *Store) over(path intent.Path) (doc *intent.Document, laid bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	doc, laid = s.laid[path]
	return doc, laid
}

// Get answers a document, the laid one first.
func (s *Store) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	doc, laid := s.over(path)
	switch {
	case !laid:
		return s.below.Get(ctx, path)
	case doc == nil:
		return intent.Document{}, intent.ErrNotFound(path)
	}
	return *doc, nil
}

// GetAll answers those of the documents that exist, in the order of the paths.
func (s *Store) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	others := slices.DeleteFunc(slices.Clone(paths), func(path intent.Path) bool {
		_, laid := s.over(path)
		return laid
	})
	stored, err := s.below.GetAll(ctx, others)
	if err != nil {
		return nil, err
	}
	found := make(map[intent.Path]intent.Document, len(stored))
	for _, doc := range stored {
		found[doc.Path] = doc
	}
	out := make([]intent.Document, 0, len(paths))
	for _, path := range paths {
		if doc, laid := s.over(path); laid && doc != nil {
			out = append(out, *doc)
		} else if doc, there := found[path]; there {
			out = append(out, doc)
		}
	}
	return out, nil
}

// List answers a page of the store below with the laid documents in their places. The page
// may have more than the limit by as many documents as are new.
func (s *Store) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	after, err := draft.After(options)
	if err != nil {
		return intent.Page{}, err
	}
	page, err := s.below.List(ctx, options)
	if err != nil {
		return page, err
	}
	last := ""
	if page.Continue != "" {
		next := options
		next.Continue = page.Continue
		if last, err = draft.After(next); err != nil {
			return page, err
		}
	}
	byName := map[string]intent.Document{}
	for _, doc := range page.Items {
		byName[doc.Path.Name()] = doc
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for path, doc := range s.laid {
		name := path.Name()
		if path.Collection() != options.Collection || !strings.HasPrefix(name, options.NamePrefix) || name <= after || last != "" && name > last {
			continue
		}
		delete(byName, name)
		if doc != nil {
			byName[name] = *doc
		}
	}
	page.Items = slices.AppendSeq(make([]intent.Document, 0, len(byName)), maps.Values(byName))
	slices.SortFunc(page.Items, func(a, b intent.Document) int { return strings.Compare(a.Path.Name(), b.Path.Name()) })
	return page, nil
}

// Put lays a document over the one below. Its revision and identity are those that the
// store below would give it.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	d, err := draft.Of(write)
	if err != nil {
		return intent.Document{}, err
	}
	var current *intent.Document
	old, err := s.Get(ctx, d.Path)
	switch {
	case err == nil:
		current = &old
	case intent.CodeOf(err) != intent.NotFound:
		return intent.Document{}, err
	}
	if err := d.Condition.Check(d.Path, old.Revision); err != nil {
		return intent.Document{}, err
	}
	next, changed, err := d.Next(current, time.Now(), nil)
	if err != nil || !changed {
		return next, err
	}
	if err := s.checkTargets(ctx, d); err != nil {
		return intent.Document{}, err
	}
	s.lay(next.Path, &next)
	return next, nil
}

func (s *Store) lay(path intent.Path, doc *intent.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laid[path] = doc
}

// checkTargets fails if a document that a draft refers to does not exist.
func (s *Store) checkTargets(ctx context.Context, d draft.Draft) error {
	for _, ref := range d.Refs {
		if ref.Collection() == intent.SecretCollection {
			continue
		}
		if _, err := s.Get(ctx, ref); intent.CodeOf(err) == intent.NotFound {
			return draft.MissingReference(d.Path, ref)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Delete hides a document of the store below. Whether others refer to it is not looked at.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	doc, err := s.Get(ctx, path)
	if err == nil {
		err = condition.Check(path, doc.Revision)
	}
	if err == nil {
		s.lay(path, nil)
	}
	return err
}

// DeleteAll hides documents of the store below.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	return intent.DeleteEach(ctx, s, paths)
}

// Referrers lists the documents that refer to a path, the laid ones as they are then.
func (s *Store) Referrers(ctx context.Context, path intent.Path) ([]intent.Path, error) {
	found, err := s.below.Referrers(ctx, path)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found = slices.DeleteFunc(slices.Clone(found), func(from intent.Path) bool {
		_, laid := s.laid[from]
		return laid
	})
	for from, doc := range s.laid {
		if doc != nil && slices.Contains(doc.Refs, path) {
			found = append(found, from)
		}
	}
	slices.Sort(found)
	return found, nil
}

// ReferrersAfter lists the first of these documents behind a path.
func (s *Store) ReferrersAfter(ctx context.Context, path, after intent.Path, limit int) ([]intent.Path, error) {
	found, err := s.Referrers(ctx, path)
	found = slices.DeleteFunc(found, func(from intent.Path) bool { return from <= after })
	return found[:min(limit, len(found))], err
}

// Sweep has nothing to do.
func (*Store) Sweep(context.Context) error { return nil }

// Ping asks the store below.
func (s *Store) Ping(ctx context.Context) error { return s.below.Ping(ctx) }

// Close leaves the store below open.
func (*Store) Close() error { return nil }
