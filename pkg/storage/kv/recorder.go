package kv

import (
	"context"
	"sync"
)

// Recorder is a store that can note what is read of it.
type Recorder struct{ KV }

// Reads notes what was read of a store, by which Unchanged tells whether the same reads
// would give the same now. A key that is new to a walk by Segments is not noticed.
type Reads struct {
	store KV

	mu       sync.Mutex
	keys     map[string]int64 // the revision that wrote each key; 0: it did not exist; there: only that it exists
	prefixes map[string]int64 // the revision at which each prefix was read
	mixed    bool             // a key was read at two revisions
}

// there stands for the revision of a key of which only the existence was read.
const there = -1

type readsKey struct{}

// Record returns a context whose reads of the store are noted.
func (r *Recorder) Record(ctx context.Context) (context.Context, *Reads) {
	reads := &Reads{store: r.KV, keys: map[string]int64{}, prefixes: map[string]int64{}}
	return context.WithValue(ctx, readsKey{}, reads), reads
}

// Get implements KV.
func (r *Recorder) Get(ctx context.Context, key string) (*Item, int64, error) {
	item, revision, err := r.KV.Get(ctx, key)
	if reads, noted := ctx.Value(readsKey{}).(*Reads); noted && err == nil {
		reads.noteKey(key, item)
	}
	return item, revision, err
}

// Range implements KV.
func (r *Recorder) Range(ctx context.Context, asked Range) ([]Item, int64, error) {
	items, revision, err := r.KV.Range(ctx, asked)
	if reads, noted := ctx.Value(readsKey{}).(*Reads); noted && err == nil {
		reads.noteRange(asked, items, revision)
	}
	return items, revision, err
}

func (r *Reads) noteKey(key string, item *Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(key, item)
}

func (r *Reads) note(key string, item *Item) {
	revision := int64(0)
	if item != nil {
		revision = item.ModRevision
	}
	before, read := r.keys[key]
	r.mixed = r.mixed || read && before != there && before != revision
	r.keys[key] = revision
}

// noteRange notes the items of a range and, of a prefix, that no other key is below it. Of
// keys that Segments finds, only the existence is noted.
func (r *Reads) noteRange(asked Range, items []Item, revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	walks := asked.KeysOnly && asked.Limit > 0
	seen := map[string]bool{}
	for n := range items {
		seen[items[n].Key] = true
		if _, read := r.keys[items[n].Key]; walks && !read {
			r.keys[items[n].Key] = there
		} else if !walks {
			r.note(items[n].Key, &items[n])
		}
	}
	for _, key := range asked.Keys {
		if !seen[key] {
			r.note(key, nil)
		}
	}
	prefixes := asked.Ahead
	if asked.Keys == nil && !walks {
		prefixes = []string{asked.Prefix}
	}
	for _, prefix := range prefixes {
		if before, read := r.prefixes[prefix]; !read || revision < before {
			r.prefixes[prefix] = revision
		}
	}
}

// Size is how many keys and prefixes were read.
func (r *Reads) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys) + len(r.prefixes)
}

// Unchanged reports whether all that was read is still as it was read. It asks the store
// once for each 128 keys, and reads no value.
func (r *Reads) Unchanged(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mixed {
		return false, nil
	}
	var all []Compare
	for prefix, revision := range r.prefixes {
		all = append(all, NotAfter(prefix, revision))
	}
	for key, revision := range r.keys {
		if revision == there {
			all = append(all, Exists(key))
		} else {
			all = append(all, Compare{Key: key, ModRevision: revision})
		}
	}
	for len(all) > 0 {
		n := min(len(all), MaxOps)
		if same, _, err := r.store.Txn(ctx, all[:n]); err != nil || !same {
			return false, err
		}
		all = all[n:]
	}
	return true, nil
}
