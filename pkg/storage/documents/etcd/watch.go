package etcd

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Watch tells which documents of a collection are written or deleted from a revision of
// etcd on (inclusive) until ctx ends, when the channel closes.
func (s *Store) Watch(ctx context.Context, collection string, from int64) <-chan intent.Changed {
	return s.watch(ctx, collectionPrefix(collection), from)
}

// WatchAll tells the same of the documents of all collections.
func (s *Store) WatchAll(ctx context.Context, from int64) <-chan intent.Changed {
	return s.watch(ctx, docRoot, from)
}

func (s *Store) watch(ctx context.Context, prefix string, from int64) <-chan intent.Changed {
	return kv.Map(ctx, s.kv.Watch(ctx, prefix, from), func(batch kv.Batch) intent.Changed {
		changed := intent.Changed{Revision: batch.Revision, Lost: batch.Compacted}
		for _, event := range batch.Events {
			changed.Paths = append(changed.Paths, pathOf(event.Key))
		}
		return changed
	})
}
