package history

import (
	"context"
	"strings"
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
	return h.prune(ctx, intent.ListOptions{Collection: intent.HistoryCollection, Limit: batch}, age, count)
}

// prune prunes the streams that are listed.
func (h *History) prune(ctx context.Context, options intent.ListOptions, age time.Duration, count int) error {
	of, seen := "", 0
	return intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		if name := streamOf(doc.Path); name != of { // they come by stream, the newest of each first
			of, seen = name, 0
		}
		seen++
		if (count == 0 || seen <= count) && (age == 0 || h.Now().Sub(doc.CreatedAt) < age) {
			return nil
		}
		if err := h.Documents.Delete(ctx, doc.Path, intent.Always()); intent.CodeOf(err) != intent.NotFound {
			return err
		}
		return nil
	})
}

// streamOf is the stream that an event is in.
func streamOf(event intent.Path) string {
	name := event.Name()
	return name[:strings.LastIndexByte(name, '/')+1]
}
