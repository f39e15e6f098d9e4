package history

import (
	"context"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// growth counts what was written to each stream since it was last pruned here.
type growth struct {
	mu      sync.Mutex
	written map[string]int
}

// note counts an event of a stream. It is true for the last of so many, from where
// the count begins again.
func (g *growth) note(stream string, many int) bool {
	const remembered = 10_000 // streams; beyond that, counts begin again
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written == nil || len(g.written) >= remembered {
		g.written = map[string]int{}
	}
	g.written[stream]++
	if g.written[stream] < many {
		return false
	}
	delete(g.written, stream)
	return true
}

// bound removes the oldest events of a stream when a tenth of Count has been written to
// it. To read it each time would cost more than the writes. The writer waits for it.
func (h *History) bound(ctx context.Context, stream string) {
	const tenth, enough = 10, 5 * time.Second
	if h.Count == 0 || !h.growth.note(stream, max(h.Count/tenth, 1)) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enough)
	defer cancel()
	options := intent.ListOptions{Collection: intent.HistoryCollection, NamePrefix: stream, Limit: batch}
	if err := h.prune(ctx, options, 0, h.Count); err != nil {
		h.Logger.WarnContext(ctx, "the history is not bounded, until it is pruned", "of", stream, "error", err)
	}
}
