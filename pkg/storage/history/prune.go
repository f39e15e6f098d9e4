package history

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Prune removes the events that are older than age, and of each project or
// cluster provider all but the newest count; 0 is no bound. Several may do so
// at once.
func (h *History) Prune(ctx context.Context, age time.Duration, count int) error {
	if age == 0 && count == 0 {
		return nil
	}
	of, seen, gone := "", 0, removal{documents: h.Documents}
	options := intent.ListOptions{Collection: intent.HistoryCollection, Limit: intent.PageItems, Bytes: intent.PageBytes}
	err := intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		if name := streamOf(doc.Path); name != of { // they come by stream, the newest of each first
			of, seen = name, 0
		}
		seen++
		if (count == 0 || seen <= count) && (age == 0 || h.Now().Sub(doc.CreatedAt) < age) {
			return nil
		}
		return gone.add(ctx, doc.Path)
	})
	if err != nil {
		return err
	}
	return gone.finish(ctx)
}

// removal removes events, many at once.
type removal struct {
	documents intent.Store
	paths     []intent.Path
}

func (r *removal) add(ctx context.Context, path intent.Path) error {
	if r.paths = append(r.paths, path); len(r.paths) < batch {
		return nil
	}
	return r.finish(ctx)
}

// finish removes what was added last.
func (r *removal) finish(ctx context.Context) error {
	paths := r.paths
	if r.paths = nil; len(paths) == 0 {
		return nil
	}
	return r.documents.DeleteAll(ctx, paths)
}
