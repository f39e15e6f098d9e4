// Package snapshot lets a request or a step read the store as it is at one time. Reads are
// asked for ahead (ADR 0085).
package snapshot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Store is a store of which a caller can read everything as it is at one time. Reading the
// same twice, or keys that were asked for ahead, costs one request.
type Store struct {
	kv.KV

	hints recent.Memory[string, []hint] // by kind
}

// Snapshot is the store at one revision, as far as it was read. It ends with the first
// transaction of its context. Later reads are of later revisions again, so that a caller who
// has written sees its rivals.
type Snapshot struct {
	outer *Snapshot // of the context that it was begun in; nil: none
	view  *View     // that it began at; nil: none

	mu       sync.Mutex
	revision int64 // 0: nothing was read
	ended    bool
	items    map[string]*kv.Item // nil for keys that do not exist
	prefixes []string            // of which all keys are in items
	missed   kv.Range            // what was read and had not been asked for ahead
	used     kv.Range            // what was read and was there
}

type snapshotKey struct{}

// Begin returns a context that reads the store at one time, and what it reads of it. The
// time is that of the first request, which is made now if anything is asked for ahead. Within a context
// of BeginAt, the time is that of its view.
func (s *Store) Begin(ctx context.Context, ahead kv.Range) (context.Context, *Snapshot, error) {
	at := &Snapshot{outer: outerOf(ctx)}
	if outer := snapshotOf(ctx); outer != nil {
		at.from(outer.view)
	}
	ctx = context.WithValue(ctx, snapshotKey{}, at)
	return ctx, at, s.ReadAhead(ctx, ahead)
}

// ReadAhead reads keys and prefixes, in one request, for later reads of a context of Begin.
// In another context it reads nothing.
func (s *Store) ReadAhead(ctx context.Context, ahead kv.Range) error {
	at := snapshotOf(ctx)
	if at == nil {
		return nil
	}
	ahead.Keys, ahead.Ahead = at.unknown(ahead.Keys), at.uncovered(ahead.Ahead)
	if len(ahead.Keys)+len(ahead.Ahead) == 0 {
		return nil
	}
	_, _, err := s.pinned(ctx, at, ahead)
	return err
}

// Now returns a context that reads the store as it is at each read, also if ctx reads a
// snapshot. Callers need it if they keep the answer for others, or remove something that
// nobody uses. A transaction ends the snapshot of ctx, too.
func Now(ctx context.Context) context.Context {
	at, _ := ctx.Value(snapshotKey{}).(*Snapshot)
	if at == nil {
		return ctx
	}
	return context.WithValue(ctx, snapshotKey{}, &Snapshot{outer: at, ended: true})
}

// Reading tells whether ctx reads a snapshot that has not ended.
func Reading(ctx context.Context) bool { return snapshotOf(ctx) != nil }

// snapshotOf is the snapshot that a context reads, nil for none.
func snapshotOf(ctx context.Context) *Snapshot {
	at, _ := ctx.Value(snapshotKey{}).(*Snapshot)
	if at == nil {
		return nil
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.ended {
		return nil
	}
	return at
}

// outerOf is the snapshot that a context was begun with, also if it has ended; nil for none.
func outerOf(ctx context.Context) *Snapshot {
	at, _ := ctx.Value(snapshotKey{}).(*Snapshot)
	return at
}

// End has later reads of the context be of later revisions.
func (at *Snapshot) End() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.ended = true
}

// readIn is what a context of Begin has used and missed until its snapshot ended; nothing of
// another context.
func readIn(ctx context.Context) (used, missed kv.Range) {
	at, _ := ctx.Value(snapshotKey{}).(*Snapshot)
	if at == nil {
		return kv.Range{}, kv.Range{}
	}
	at.mu.Lock()
	used = kv.Range{Keys: slices.Clone(at.used.Keys), Ahead: slices.Clone(at.used.Ahead)}
	at.mu.Unlock()
	return used, at.Missed()
}

// Missed are the keys, and the whole prefixes, that were read one by one because nobody had
// asked for them ahead.
func (at *Snapshot) Missed() kv.Range {
	at.mu.Lock()
	defer at.mu.Unlock()
	return kv.Range{Keys: slices.Clone(at.missed.Keys), Ahead: slices.Clone(at.missed.Ahead)}
}

// Get implements kv.KV.
func (s *Store) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	at := snapshotOf(ctx)
	if at == nil {
		if item, revision := earlier(ctx, key); item != nil {
			return item, revision, nil
		}
		return s.KV.Get(ctx, key)
	}
	items, revision, err := s.Range(ctx, kv.Range{Keys: []string{key}})
	if err != nil || len(items) == 0 {
		return nil, revision, err
	}
	return &items[0], revision, nil
}

// Range implements kv.KV.
func (s *Store) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	at := snapshotOf(ctx)
	if at == nil || r.Revision != 0 && !at.isOf(r.Revision) {
		return s.KV.Range(ctx, r)
	}
	if items, revision, known := at.answer(r); known {
		return items, revision, nil
	}
	at.miss(r)
	return s.pinned(ctx, at, r)
}

// pinned reads at the revision of a snapshot, and notes what was read.
func (s *Store) pinned(ctx context.Context, at *Snapshot, r kv.Range) ([]kv.Item, int64, error) {
	at.mu.Lock()
	r.Revision = at.revision
	at.mu.Unlock()
	items, revision, err := s.KV.Range(ctx, r)
	if errors.Is(err, kv.ErrCompacted) {
		return nil, 0, &intent.Error{Code: intent.Unavailable, Detail: "what was read a moment ago is no longer kept; try again", Err: err}
	}
	if err == nil {
		at.note(r, items, revision)
	}
	return items, revision, err
}

// Again has a caller begin again whose revision was compacted: it makes the error one of a read that
// was overtaken. Other errors stay as they are.
func Again(err error) error {
	if !errors.Is(err, kv.ErrCompacted) {
		return err
	}
	return &intent.Error{Code: intent.PreconditionFailed, Detail: "the store was compacted meanwhile", Err: err}
}

// Txn implements kv.KV. It ends the snapshot of the context, and those around it.
func (s *Store) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	for at := outerOf(ctx); at != nil; at = at.outer {
		at.End()
	}
	return s.KV.Txn(ctx, when, then...)
}

func (at *Snapshot) isOf(revision int64) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.revision == revision
}

// unknown are the keys that were not read yet, in order.
func (at *Snapshot) unknown(keys []string) []string {
	at.mu.Lock()
	defer at.mu.Unlock()
	out := make([]string, 0, len(keys))
	for _, key := range keys {
		if !at.knows(key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// uncovered are the prefixes of which not all keys were read yet.
func (at *Snapshot) uncovered(prefixes []string) []string {
	at.mu.Lock()
	defer at.mu.Unlock()
	var out []string
	for _, prefix := range prefixes {
		if !at.covers(prefix) && !slices.Contains(out, prefix) {
			out = append(out, prefix)
		}
	}
	return out
}

// knows tells whether a key was read, or all keys that begin as it does.
func (at *Snapshot) knows(key string) bool {
	_, read := at.items[key]
	return read || at.view.knows(key) || at.covers(key)
}

// item is that of a key which was read, nil if there is none.
func (at *Snapshot) item(key string) *kv.Item {
	if item, read := at.items[key]; read {
		return item
	}
	return at.view.item(key)
}

// covers tells whether all keys with a prefix were read.
func (at *Snapshot) covers(prefix string) bool {
	return at.view.covers(prefix) || slices.ContainsFunc(at.prefixes, func(whole string) bool { return strings.HasPrefix(prefix, whole) })
}

// answer is what a Range answers, if all of that was read.
func (at *Snapshot) answer(r kv.Range) (items []kv.Item, revision int64, known bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.revision == 0 || r.MinModRevision != 0 || len(r.Ahead) > 0 {
		return nil, 0, false
	}
	if r.Keys != nil && slices.ContainsFunc(r.Keys, func(key string) bool { return !at.knows(key) }) {
		return nil, 0, false
	}
	if (r.Keys == nil || r.Prefix != "") && !at.covers(r.Prefix) {
		return nil, 0, false
	}
	at.used.Keys = append(at.used.Keys, r.Keys...)
	if r.Keys == nil || r.Prefix != "" {
		at.used.Ahead = append(at.used.Ahead, r.Prefix)
	}
	items = []kv.Item{}
	for _, key := range r.Keys {
		if item := at.item(key); item != nil {
			items = append(items, *item)
		}
	}
	if r.Keys == nil {
		return append(items, at.below(r)...), at.revision, true
	}
	if r.Prefix != "" {
		items = append(items, at.below(kv.Range{Prefix: r.Prefix})...)
	}
	return items, at.revision, true
}

// below are the items that a Range of a prefix answers.
func (at *Snapshot) below(r kv.Range) []kv.Item {
	items := slices.DeleteFunc(at.view.below(r.Prefix), func(item kv.Item) bool {
		_, read := at.items[item.Key]
		return read || r.After != "" && item.Key <= r.After
	})
	for key, item := range at.items {
		if item != nil && strings.HasPrefix(key, r.Prefix) && (r.After == "" || key > r.After) {
			items = append(items, *item)
		}
	}
	slices.SortFunc(items, func(a, b kv.Item) int { return strings.Compare(a.Key, b.Key) })
	size := int64(0)
	for n := range items {
		if r.KeysOnly {
			items[n].Value = nil
		}
		size += int64(len(items[n].Value))
		if r.Limit > 0 && int64(n+1) == r.Limit || r.Bytes > 0 && size > r.Bytes {
			return items[:n+1]
		}
	}
	return items
}

// note keeps what was read. Of a part of what a prefix has, and of keys without values,
// nothing is kept.
func (at *Snapshot) note(r kv.Range, items []kv.Item, revision int64) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.revision == 0 {
		at.revision = revision
	}
	if revision != at.revision || r.KeysOnly || r.MinModRevision != 0 {
		return
	}
	if len(at.items) == 0 {
		at.items = make(map[string]*kv.Item, max(len(r.Keys), len(items)))
	}
	for _, key := range r.Keys {
		if !at.covers(key) {
			at.items[key] = nil
		}
	}
	kept := slices.Clone(items)
	for n := range kept {
		at.items[kept[n].Key] = &kept[n]
	}
	if r.Prefix != "" && (r.Keys != nil || r.After == "" && r.Limit == 0 && r.Bytes == 0) {
		at.prefixes = append(at.prefixes, r.Prefix)
	}
	for _, prefix := range r.Ahead {
		below := 0
		for _, item := range items {
			if strings.HasPrefix(item.Key, prefix) {
				below++
			}
		}
		if below < kv.AheadLimit {
			at.prefixes = append(at.prefixes, prefix)
		}
	}
}

// miss notes what a read has to ask the store for.
func (at *Snapshot) miss(r kv.Range) {
	unknown := at.unknown(r.Keys)
	at.mu.Lock()
	defer at.mu.Unlock()
	at.missed.Keys = append(at.missed.Keys, unknown...)
	if r.Prefix != "" && r.After == "" && r.Limit == 0 && !at.covers(r.Prefix) {
		at.missed.Ahead = append(at.missed.Ahead, r.Prefix)
	}
}
