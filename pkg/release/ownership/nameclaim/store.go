package nameclaim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Store keeps claims.
type Store struct{ KV kv.KV }

const prefix = "/signpost/name/"

func (k Key) path() string { return prefix + url.PathEscape(k.View) + "/" + url.PathEscape(k.Name) }

// Path is the key of the claim of a name.
func Path(of Key) string { return of.path() }

// Keys are those of claims and of the claims of the names above them. Below are the prefixes of
// the tree below them.
func Keys(keys []Key) (paths, below []string) {
	for _, key := range keys {
		paths, below = append(paths, key.path()), append(below, key.leaf())
		for _, above := range key.Above() {
			paths = append(paths, above.path())
		}
	}
	return paths, below
}

// Read answers the claims of names as they are at one time. Unclaimed names have a zero
// claim.
func (s Store) Read(ctx context.Context, keys []Key) (map[Key]Claim, error) {
	paths, of := make([]string, len(keys)), make(map[string]Key, len(keys))
	for n, key := range keys {
		paths[n] = key.path()
		of[paths[n]] = key
	}
	claims := make(map[Key]Claim, len(keys))
	if len(keys) == 0 {
		return claims, nil
	}
	items, _, err := s.KV.Range(ctx, kv.Range{Keys: paths})
	if err != nil {
		return nil, err
	}
	for n := range items {
		key := of[items[n].Key]
		if claims[key], err = claimOf(key, &items[n]); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

func claimOf(key Key, item *kv.Item) (Claim, error) {
	claim := Claim{item: item}
	if err := json.Unmarshal(item.Value, &claim); err != nil {
		return claim, fmt.Errorf("%s: %w", item.Key, err)
	}
	item.Value = nil // what is compared is its revision
	return claim.whole(key), nil
}

// Watch tells which names are claimed or given up, from a revision of the store on
// (inclusive), until ctx ends, when the channel closes. Lost says that some may be
// missing.
func (s Store) Watch(ctx context.Context, from int64) <-chan Changed {
	return kv.Map(ctx, s.KV.Watch(ctx, prefix, from), func(batch kv.Batch) Changed {
		changed := Changed{Lost: batch.Compacted}
		for _, event := range batch.Events {
			key, err := keyAt(event.Key)
			changed.Keys, changed.Lost = append(changed.Keys, key), changed.Lost || err != nil
		}
		return changed
	})
}

// Changed are names whose claims have changed.
type Changed struct {
	Keys []Key
	Lost bool
}

// Page answers at most limit claims, in an order that stays, from behind a key
// on; from the first one on for the zero Key.
func (s Store) Page(ctx context.Context, after Key, limit int64) ([]Change, error) {
	page := kv.Range{Prefix: prefix, Limit: limit}
	if after != (Key{}) {
		page.After = after.path()
	}
	items, _, err := s.KV.Range(ctx, page)
	if err != nil {
		return nil, err
	}
	claims := make([]Change, len(items))
	for n := range items {
		if claims[n].Key, err = keyAt(items[n].Key); err != nil {
			return nil, err
		}
		if claims[n].Claim, err = claimOf(claims[n].Key, &items[n]); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// Count is how many names are claimed, by view.
func (s Store) Count(ctx context.Context) (map[string]int, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: prefix, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	names := map[string]int{}
	for _, item := range items {
		key, err := keyAt(item.Key)
		if err != nil {
			return nil, err
		}
		names[key.View]++
	}
	return names, nil
}

func keyAt(path string) (key Key, err error) {
	view, name, _ := strings.Cut(strings.TrimPrefix(path, prefix), "/")
	if key.View, err = url.PathUnescape(view); err == nil {
		key.Name, err = url.PathUnescape(name)
	}
	if err != nil {
		return key, fmt.Errorf("%s is not a key of a name: %w", path, err)
	}
	return key, nil
}

// Change is a claim with its new content, made of one that was read. A claim without
// entries is deleted.
type Change struct {
	Key   Key
	Claim Claim
}

// WriteIf writes a few claims under conditions, all or none of them. It answers whether it
// has. If there are too many for that, it has not.
func (s Store) WriteIf(ctx context.Context, changes []Change, when ...kv.Compare) (bool, error) {
	const most = 32 // changes, and conditions
	if len(changes) == 0 || len(changes) > most || len(when) > most {
		return false, nil
	}
	var then []kv.Op
	for _, change := range changes {
		when1, ops, err := change.write()
		if err != nil {
			return false, err
		}
		when, then = append(when, when1), append(then, ops...)
	}
	done, _, err := s.KV.Txn(ctx, when, then...)
	return done, err
}

// Write writes claims, of which none has changed since it was read. It writes them in the
// order of their keys, a part at a time. If several claim the same names at once, one
// comes to the first of these names first, and gets all of them. The error of a lost race
// has the code PreconditionFailed, and parts may have been written then.
func (s Store) Write(ctx context.Context, changes []Change) error {
	slices.SortFunc(changes, func(a, b Change) int { return compare(a.Key, b.Key) })
	var when []kv.Compare
	var then []kv.Op
	size := 0
	flush := func(next int) error {
		if len(when) == 0 || len(then) < kv.MaxOps-1 && size+next <= kv.MaxBytes/2 {
			return nil
		}
		done, _, err := s.KV.Txn(ctx, when, then...)
		if err == nil && !done {
			err = &intent.Error{Code: intent.PreconditionFailed, Detail: "names have just been claimed"}
		}
		when, then, size = nil, nil, 0
		return err
	}
	for _, change := range changes {
		when1, ops, err := change.write()
		if err == nil {
			err = flush(len(ops[0].Value))
		}
		if err != nil {
			return err
		}
		when, then, size = append(when, when1), append(then, ops...), size+len(ops[0].Value)
	}
	return flush(kv.MaxBytes)
}

func compare(a, b Key) int {
	if a.path() < b.path() {
		return -1
	}
	return 1
}

// write is the claim's operation, and where it comes or goes that of the tree.
func (c Change) write() (kv.Compare, []kv.Op, error) {
	path := c.Key.path()
	when := kv.Unchanged(path, c.Claim.item)
	if len(c.Claim.Entries) == 0 {
		return when, []kv.Op{kv.Delete(path), kv.Delete(c.Key.leaf())}, nil
	}
	raw, err := json.Marshal(c.Claim.short(c.Key))
	ops := []kv.Op{kv.Put(path, raw)}
	if slices.ContainsFunc(c.Claim.Entries, func(e Entry) bool { return len(e.Trees) > 0 }) {
		ops = append(ops, kv.Put(c.Key.leaf(), nil))
	}
	return when, ops, err
}
