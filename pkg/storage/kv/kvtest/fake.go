package kvtest

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// maxRequest is the size, in bytes, of the largest transaction.
const maxRequest = 3 << 19

// Fake is a kv.KV in memory, deterministic: revisions count up from 1, and
// watchers are told in the order of the writes. It keeps the current value of
// each key and the events since the last Compact; a Range at an earlier
// revision is answered from those. The zero value is not usable, see NewFake.
type Fake struct {
	// Before, when set, is called ahead of every request; its error is the request's
	// answer, and nothing happens. After is called behind it; its error replaces the
	// answer to a request that did happen, as when a connection breaks. The op is "get",
	// "range", "txn", "lease", "release" or "ping". The key is the key, prefix or first
	// key written.
	Before, After func(op, key string) error

	mu        sync.Mutex
	revision  int64
	compacted int64 // history up to here, inclusive, is gone
	items     map[string]kv.Item
	keys      []string // of items, in order
	history   []change
	leases    map[int64]*fakeLease
	nextLease int64
	watchers  map[*fakeWatch]bool
}

// change is an event and the item that it replaced.
type change struct {
	event    kv.Event
	revision int64
	previous *kv.Item
}

var _ kv.KV = (*Fake)(nil)

// NewFake makes an empty store.
func NewFake() *Fake {
	return &Fake{
		revision: 1,
		items:    map[string]kv.Item{},
		leases:   map[int64]*fakeLease{},
		watchers: map[*fakeWatch]bool{},
	}
}

// around calls the hooks around do, which runs alone.
func (f *Fake) around(ctx context.Context, op, key string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return &intent.Error{Code: intent.Unavailable, Detail: op + " " + key, Err: err}
	}
	if f.Before != nil {
		if err := f.Before(op, key); err != nil {
			return err
		}
	}
	f.mu.Lock()
	err := do()
	f.mu.Unlock()
	if f.After != nil && err == nil {
		err = f.After(op, key)
	}
	return err
}

// Get implements kv.KV.
func (f *Fake) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	var found *kv.Item
	var revision int64
	err := f.around(ctx, "get", key, func() error {
		revision = f.revision
		if item, ok := f.items[key]; ok {
			item.Value = slices.Clone(item.Value)
			found = &item
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return found, revision, nil
}

// Range implements kv.KV.
func (f *Fake) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	items := []kv.Item{}
	var revision int64
	err := f.around(ctx, "range", r.Prefix, func() error {
		revision = r.Revision
		revision = cmp.Or(revision, f.revision)
		if revision < f.compacted {
			return kv.ErrCompacted
		}
		then := f.at(revision)
		if r.Keys != nil {
			items = named(then, r.Keys)
			if r.Prefix != "" {
				items = append(items, following(then, r.Prefix, 0)...)
			}
			for _, prefix := range r.Ahead {
				items = append(items, following(then, prefix, kv.AheadLimit)...)
			}
			return nil
		}
		items = selected(then, r)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return items, revision, nil
}

// selected are the items of a Range of a prefix.
func selected(then past, r kv.Range) []kv.Item {
	items, size := []kv.Item{}, int64(0)
	for _, key := range then.below(r.Prefix) {
		item, exists := then.item(key)
		if !exists || key <= r.After && r.After != "" || item.ModRevision < r.MinModRevision {
			continue
		}
		item.Value = slices.Clone(item.Value)
		if r.KeysOnly {
			item.Value = nil
		}
		size += int64(len(item.Value))
		if items = append(items, item); r.Limit > 0 && int64(len(items)) == r.Limit || r.Bytes > 0 && size > r.Bytes {
			break
		}
	}
	return items
}

// named are those of the keys that exist.
func named(then past, keys []string) []kv.Item {
	items := []kv.Item{}
	for _, key := range keys {
		if item, exists := then.item(key); exists {
			item.Value = slices.Clone(item.Value)
			items = append(items, item)
		}
	}
	return items
}

// following are the keys with a prefix, at most limit of them if that is not 0.
func following(then past, prefix string, limit int) []kv.Item {
	items := []kv.Item{}
	for _, key := range then.below(prefix) {
		if limit > 0 && len(items) == limit {
			break
		}
		items = append(items, named(then, []string{key})...)
	}
	return items
}

// past is a Fake as of a revision.
type past struct {
	*Fake
	changed map[string]*kv.Item // what keys held that were changed since, nil for nothing
}

// at undoes the changes after a revision.
func (f *Fake) at(revision int64) past {
	then := past{f, map[string]*kv.Item{}}
	for i := len(f.history) - 1; i >= 0 && f.history[i].revision > revision; i-- {
		then.changed[f.history[i].event.Key] = f.history[i].previous
	}
	return then
}

// item returns what a key held.
func (p past) item(key string) (kv.Item, bool) {
	if held, changed := p.changed[key]; changed {
		if held == nil {
			return kv.Item{}, false
		}
		return *held, true
	}
	item, exists := p.items[key]
	return item, exists
}

// below returns, in order, the keys with a prefix that exist now or changed
// since.
func (p past) below(prefix string) []string {
	now := p.keysBelow(prefix)
	if len(p.changed) == 0 {
		return now
	}
	keys := slices.Clone(now)
	for key := range p.changed {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keysBelow returns, in order, the keys with a prefix. The slice is good until
// the next write.
func (f *Fake) keysBelow(prefix string) []string {
	from, _ := slices.BinarySearch(f.keys, prefix)
	rest := f.keys[from:]
	return rest[:sort.Search(len(rest), func(i int) bool { return !strings.HasPrefix(rest[i], prefix) })]
}

// Ping implements kv.KV.
func (f *Fake) Ping(ctx context.Context) error {
	return f.around(ctx, "ping", "", func() error { return nil })
}

// Revision is the store's current revision.
func (f *Fake) Revision() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.revision
}

// Compact forgets the history before the current revision.
func (f *Fake) Compact(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.compacted = f.revision
	f.history = slices.DeleteFunc(f.history, func(c change) bool { return c.revision < f.compacted })
	return nil
}
