package etcd

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// deletedAtOnce is how many documents one transaction removes: each takes two compares.
const deletedAtOnce = kv.MaxOps/2 - 1

// DeleteAll implements intent.Store, by a read and a transaction for many documents. If a
// transaction is refused, its documents are deleted one by one.
func (s *Store) DeleteAll(ctx context.Context, paths []intent.Path) error {
	for some := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(paths))), deletedAtOnce) {
		done, err := s.tryDeleteAll(ctx, some)
		if err == nil && !done {
			err = intent.DeleteEach(ctx, s, some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tryDeleteAll deletes all of the documents that exist, or none of them.
func (s *Store) tryDeleteAll(ctx context.Context, paths []intent.Path) (bool, error) {
	keys := make([]string, len(paths))
	for n, path := range paths {
		if err := draft.CheckPath(path); err != nil {
			return false, err
		}
		keys[n] = docKey(path)
	}
	items, _, err := s.kv.Range(ctx, kv.Range{Keys: keys})
	if err != nil || len(items) == 0 {
		return err == nil, err
	}
	var when []kv.Compare
	then := []kv.Op{kv.Delete(deletedKey)}
	for _, item := range items {
		doc, _, err := decode(item)
		if err != nil {
			return false, err
		}
		when = append(when, kv.Unchanged(item.Key, &item), kv.Compare{Key: refPrefix(doc.Path), Prefix: true})
		then = append(then, kv.Delete(item.Key))
		then = append(then, refOps(doc.Path, nil, doc.Refs)...)
		if doc.Schema > intent.Schema || len(then) > kv.MaxOps {
			return false, nil
		}
	}
	done, _, err := s.kv.Txn(ctx, when, then...)
	return done, err
}
