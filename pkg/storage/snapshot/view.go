package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// View is what was read of the store at one revision, for several contexts that begin there. Nobody
// changes it.
type View struct {
	revision int64
	items    map[string]*kv.Item // nil for keys that do not exist
	keys     []string            // of those that exist, in order
	prefixes []string            // of which all keys are in items
}

// ViewOf is what a context of Begin has read until now; nil if it has read nothing, or written.
func ViewOf(ctx context.Context) *View {
	at := snapshotOf(ctx)
	if at == nil {
		return nil
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.revision == 0 {
		return nil
	}
	v := &View{revision: at.revision, items: maps.Clone(at.items), prefixes: slices.Clone(at.prefixes)}
	for key, item := range v.items {
		if item != nil {
			v.keys = append(v.keys, key)
		}
	}
	slices.Sort(v.keys)
	return v
}

// BeginAt is Begin at the time of a view, and reads nothing of what the view has. Contexts that are
// begun within this one are of that time, too, until the first transaction of any of them.
func (s *Store) BeginAt(ctx context.Context, view *View) (context.Context, *Snapshot) {
	at := &Snapshot{outer: outerOf(ctx), items: map[string]*kv.Item{}}
	at.from(view)
	return context.WithValue(ctx, snapshotKey{}, at), at
}

// from has a snapshot begin at a view; nil: at its first read.
func (at *Snapshot) from(view *View) {
	if view != nil {
		at.view, at.revision = view, view.revision
	}
}

// Ended tells whether a transaction has ended the snapshot, or its caller.
func (at *Snapshot) Ended() bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.ended
}

// knows tells whether a key was read, or all keys that begin as it does. A view that is nil has
// nothing.
func (v *View) knows(key string) bool {
	if v == nil {
		return false
	}
	_, read := v.items[key]
	return read || v.covers(key)
}

// covers tells whether all keys with a prefix were read.
func (v *View) covers(prefix string) bool {
	return v != nil && slices.ContainsFunc(v.prefixes, func(whole string) bool { return strings.HasPrefix(prefix, whole) })
}

// item is that of a key, nil if there is none.
func (v *View) item(key string) *kv.Item {
	if v == nil {
		return nil
	}
	return v.items[key]
}

// below are the items whose keys begin with a prefix.
func (v *View) below(prefix string) []kv.Item {
	var found []kv.Item
	if v == nil {
		return nil
	}
	from, _ := slices.BinarySearch(v.keys, prefix)
	for _, key := range v.keys[from:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		found = append(found, *v.items[key])
	}
	return found
}
