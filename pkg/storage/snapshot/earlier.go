package snapshot

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

type earlierKey struct{}

// Earlier returns a context for a caller who may see a key as the snapshots of ctx have seen it, also after their end. Get
// answers it without a request then. Keys that were not there, or not read, are read now, and so are those of Range.
func Earlier(ctx context.Context) context.Context {
	return context.WithValue(ctx, earlierKey{}, outerOf(ctx))
}

// earlier is a key as a snapshot of a context of Earlier has seen it; nil if it was not there, or not read.
func earlier(ctx context.Context, key string) (item *kv.Item, revision int64) {
	at, _ := ctx.Value(earlierKey{}).(*Snapshot)
	for ; at != nil; at = at.outer {
		at.mu.Lock()
		item, revision = at.item(key), at.revision
		at.mu.Unlock()
		if item != nil {
			return item, revision
		}
	}
	return nil, 0
}
