package ledger

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Changed is an entry as it is now; nil: there is none any more.
type Changed struct {
	ID    bundle.ID
	Entry *Entry
}

// Changes is a batch of entries that changed. All changes up to its Revision are in it, or came before.
type Changes struct {
	Entries  []Changed
	Revision int64
	Lost     bool // history is missing: the reader looks at everything again
}

// Each visits the entries of all clusters, page by page.
func (l *Ledger) Each(ctx context.Context, visit func(Changed)) error {
	return kv.Each(ctx, l.kv, prefix, func(item kv.Item) {
		if c, ok := changedBy(item); ok {
			visit(c)
		}
	})
}

// Watch tells which entries change from a revision on (inclusive) until ctx ends, when
// the channel closes. It tells every few seconds how far it has come.
func (l *Ledger) Watch(ctx context.Context, from int64) <-chan Changes {
	return kv.Map(ctx, l.kv.Follow(ctx, prefix, from, kv.TellEvery), func(batch kv.Batch) Changes {
		out := Changes{Revision: batch.Revision, Lost: batch.Compacted}
		for _, event := range batch.Events {
			if c, ok := changedBy(event.Item); ok {
				out.Entries = append(out.Entries, c)
			}
		}
		return out
	})
}

// changedBy reads an entry; false for what has no object's key. A damaged entry counts as
// none.
func changedBy(item kv.Item) (Changed, bool) {
	id, err := parseKey(item.Key)
	if err != nil {
		return Changed{}, false
	}
	e, err := decode(item)
	if err != nil {
		return Changed{ID: id}, true
	}
	return Changed{id, &e}, true
}
