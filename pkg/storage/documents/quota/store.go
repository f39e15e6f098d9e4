// Package quota keeps each project to its quota of documents and bytes. The usage of a
// project is counted in the key-value store. So a write reads one number instead of all
// documents, and replicas count together.
package quota

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Count counts the documents of a project, its own among them, and the bytes of their
// bodies. Sealed values are counted apart.
type Count func(ctx context.Context, project intent.Path) (documents int, bytes int64, err error)

// Store is an intent.Store around another, which refuses writes above a project's quota.
// A write is counted before, and given back if it fails. After a crash between the two,
// the project has less than its quota until [Store.Recount].
type Store struct {
	intent.Store
	counts   *counts
	rates    *rates
	releases *rates
	quotas   intent.Quotas // of projects that have none of their own
}

// New makes a Store around another one, whose documents count tells of.
func New(over intent.Store, count Count, usage kv.KV, quotas intent.Quotas) *Store {
	return &Store{
		Store: over, counts: &counts{kv: usage, count: count, sealed: sealedOf(over), seed: maphash.MakeSeed()},
		rates: newRates("writes", time.Now), releases: newRates("releases", time.Now), quotas: quotas,
	}
}

// Release counts the bytes of a release that a project is about to store, as it has them
// on its clusters. Releases faster than history is removed are TooMany. Releases have a
// rate of their own, so that documents can be written after one.
func (s *Store) Release(ctx context.Context, project intent.Path, bytes int) error {
	quotas, err := s.of(ctx, project)
	if err != nil {
		return err
	}
	return s.releases.take(project, quotas.Bytes, bytes)
}

// Put implements intent.Store. A write above the quota is a Conflict that names the
// quota, and writes faster than history is removed are TooMany.
func (s *Store) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	project := projectOf(write.Path, write.Body)
	if project == "" {
		return s.Store.Put(ctx, write)
	}
	for {
		doc, again, err := s.put(ctx, project, write)
		if !again || ctx.Err() != nil {
			return doc, err
		}
	}
}

// put writes once. It is to be done again when a document has changed meanwhile that
// was to be written in any state.
func (s *Store) put(ctx context.Context, project intent.Path, write intent.Write) (doc intent.Document, again bool, err error) {
	old, err := s.find(ctx, write.Path)
	if err != nil {
		return intent.Document{}, false, err
	}
	exact := exactly(write.Condition, old)
	if err := exact.Check(write.Path, old.Revision); err != nil {
		return intent.Document{}, false, err
	}
	delta := sizeOf(write.Path, write.Body, 1)
	if old.Revision > 0 {
		delta = delta.plus(sizeOf(write.Path, old.Body, -1))
	}
	if err := s.allow(ctx, project, delta, len(write.Body)); err != nil {
		return intent.Document{}, false, err
	}
	anyState := write.Condition == intent.Always()
	write.Condition = exact
	doc, err = s.Store.Put(ctx, write)
	switch {
	case err == nil:
		s.counts.settle(ctx, project, delta.shrinking())
	case intent.CodeOf(err) != intent.Unavailable: // else it may have been written
		s.counts.settle(ctx, project, delta.growing().negative())
	}
	code := intent.CodeOf(err)
	return doc, anyState && (code == intent.PreconditionFailed || code == intent.Conflict && s.appeared(ctx, write.Path, old)), err
}

// allow counts what a project gets more, before it is written.
func (s *Store) allow(ctx context.Context, project intent.Path, delta Usage, written int) error {
	quotas, err := s.of(ctx, project)
	if err != nil {
		return err
	}
	if err := s.rates.take(project, quotas.Bytes, written); err != nil {
		return err
	}
	if more := delta.growing(); more != (Usage{}) {
		return s.counts.add(ctx, project, more, quotas)
	}
	return nil
}

// of are the quotas of a project.
func (s *Store) of(ctx context.Context, project intent.Path) (intent.Quotas, error) {
	doc, err := s.find(ctx, project)
	if err != nil || doc.Revision == 0 { // it is written just now, or an orchestrator keeps it
		return s.quotas, err
	}
	stored, err := intent.Of[intent.Project](doc)
	return stored.Spec.Quotas.Or(s.quotas), err
}

// Delete implements intent.Store. It works at any usage, also if the usage cannot be
// written.
func (s *Store) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	if !strings.HasPrefix(string(path), projects) && path.Collection() != intent.SecretCollection {
		return s.Store.Delete(ctx, path, condition)
	}
	for {
		old, err := s.find(ctx, path)
		if err != nil {
			return err
		}
		if old.Revision == 0 {
			return s.Store.Delete(ctx, path, condition)
		}
		err = s.Store.Delete(ctx, path, exactly(condition, old))
		if err == nil {
			s.counts.settle(ctx, projectOf(path, old.Body), sizeOf(path, old.Body, -1))
		}
		if intent.CodeOf(err) != intent.PreconditionFailed || condition != intent.Always() || ctx.Err() != nil {
			return err
		}
	}
}

// DeleteAll implements intent.Store. Documents that count are deleted one by one.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	var counted, others []intent.Path
	for _, path := range paths {
		if strings.HasPrefix(string(path), projects) || path.Collection() == intent.SecretCollection {
			counted = append(counted, path)
		} else {
			others = append(others, path)
		}
	}
	if err := s.Store.DeleteAll(ctx, others); err != nil {
		return err
	}
	return intent.DeleteEach(ctx, s, counted)
}

// exactly is a condition that holds for a document as it was read alone.
func exactly(condition intent.Condition, old intent.Document) intent.Condition {
	switch {
	case condition != intent.Always():
		return condition
	case old.Revision == 0:
		return intent.IfAbsent()
	}
	return intent.IfRevision(old.Revision)
}

// appeared tells whether a document is there that was not.
func (s *Store) appeared(ctx context.Context, path intent.Path, old intent.Document) bool {
	now, err := s.find(ctx, path)
	return err == nil && old.Revision == 0 && now.Revision > 0
}

// find is a document; one with revision 0 when there is none.
func (s *Store) find(ctx context.Context, path intent.Path) (intent.Document, error) {
	doc, err := s.Store.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return intent.Document{}, nil
	}
	return doc, err
}

const projects = "projects/"

// projectOf is the project whose a document is, empty for none: what is below it, and
// what is sealed of that.
func projectOf(path intent.Path, body []byte) intent.Path {
	if path.Collection() == intent.SecretCollection {
		var sealed struct {
			Path intent.Path `json:"path"`
		}
		_ = json.Unmarshal(body, &sealed) // else it is nobody's
		path = sealed.Path
	}
	if !strings.HasPrefix(string(path), projects) {
		return ""
	}
	return intent.Join("projects", path.Segment("projects"))
}

// sizeOf is what a document counts, times a sign. A sealed value is none of its own.
func sizeOf(path intent.Path, body []byte, sign int) Usage {
	u := Usage{Documents: sign, Bytes: int64(sign * len(body))}
	if path.Collection() == intent.SecretCollection {
		u.Documents = 0
	}
	return u
}

// sealedOf counts the bytes that are sealed of each project.
func sealedOf(over intent.Store) func(context.Context) (map[intent.Path]int64, error) {
	return func(ctx context.Context) (map[intent.Path]int64, error) {
		bytes := map[intent.Path]int64{}
		options := intent.ListOptions{Collection: intent.SecretCollection, Bytes: intent.PageBytes}
		return bytes, intent.Each(ctx, over, options, func(doc intent.Document) error {
			bytes[projectOf(doc.Path, doc.Body)] += int64(len(doc.Body))
			return nil
		})
	}
}
