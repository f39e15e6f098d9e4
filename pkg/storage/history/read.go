package history

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Page answers the events of a project or a cluster provider, and of everything below it,
// the newest first. The limit is at least 1. The Continue of the page before is after,
// empty for the first one. Errors: NotFound; Invalid for a wrong after.
func (h *History) Page(ctx context.Context, top intent.Path, limit int, after string) (intent.EventPage, error) {
	doc, err := h.Documents.Get(ctx, top)
	if err != nil {
		return intent.EventPage{}, err
	}
	return h.page(ctx, intent.ListOptions{Collection: intent.HistoryCollection, NamePrefix: stream(top, doc.UID), Limit: limit, Bytes: intent.PageBytes, Continue: after})
}

func (h *History) page(ctx context.Context, options intent.ListOptions) (intent.EventPage, error) {
	stored, err := h.Documents.List(ctx, options)
	if err != nil {
		return intent.EventPage{}, err
	}
	page := intent.EventPage{Items: make([]intent.Event, len(stored.Items)), Continue: stored.Continue}
	for n, doc := range stored.Items {
		if err := json.Unmarshal(doc.Body, &page.Items[n]); err != nil {
			return intent.EventPage{}, err
		}
	}
	return page, nil
}

// Writes answers the writes of a document and of what is below it, the oldest
// first, from its last creation on.
func (h *History) Writes(ctx context.Context, path intent.Path) ([]intent.Event, error) {
	top, err := h.Documents.Get(ctx, topOf(path))
	if err != nil {
		return nil, err
	}
	var writes []intent.Event
	options := intent.ListOptions{Collection: intent.HistoryCollection, NamePrefix: stream(top.Path, top.UID), Limit: batch}
	for {
		page, err := h.page(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Items {
			if e.Action.OfDocument() && (e.Path == path || strings.HasPrefix(string(e.Path), string(path)+"/")) {
				writes = append(writes, e)
			}
			if e.Path == path && e.Action == intent.Create {
				page.Continue = ""
				break
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			slices.Reverse(writes)
			return writes, nil
		}
	}
}

// batch is how many events are read at once.
const batch = 200
