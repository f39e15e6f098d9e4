package kv

import "context"

// pageSize is how many items, and pageBytes how many bytes, Each reads at a time.
const (
	pageSize  = 1000
	pageBytes = 4 << 20
)

// Each visits the items below a prefix, in order, page by page. Each
// page is as it was when it was read.
func Each(ctx context.Context, store KV, prefix string, visit func(Item)) error {
	after := ""
	for {
		items, _, err := store.Range(ctx, Range{Prefix: prefix, After: after, Limit: pageSize, Bytes: pageBytes})
		if err != nil || len(items) == 0 {
			return err
		}
		for _, item := range items {
			visit(item)
		}
		after = items[len(items)-1].Key
	}
}
