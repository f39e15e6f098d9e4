package kvtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Txn implements kv.KV.
func (f *Fake) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	key := ""
	if len(then) > 0 {
		key = then[0].Key
	}
	var held bool
	var revision int64
	err := f.around(ctx, "txn", key, func() error {
		if err := f.checkTxn(when, then); err != nil {
			return err
		}
		held = !slices.ContainsFunc(when, func(c kv.Compare) bool { return !f.holds(c) })
		if held {
			f.apply(then)
		}
		revision = f.revision
		return nil
	})
	if err != nil {
		return false, 0, err
	}
	return held, revision, nil
}

// checkTxn refuses what etcd refuses.
func (f *Fake) checkTxn(when []kv.Compare, then []kv.Op) error {
	if len(when) > kv.MaxOps || len(then) > kv.MaxOps && (len(when) > kv.MaxOps/2 || len(then) > kv.MaxOps*kv.MaxOps/4) {
		return refused(intent.Invalid, "too many operations: %d compares, %d operations", len(when), len(then))
	}
	size := 0
	for _, op := range then {
		size += len(op.Key) + len(op.Value)
		if op.Lease != 0 && f.leases[op.Lease] == nil {
			return refused(intent.Conflict, "the lease %d has ended", op.Lease)
		}
	}
	if size > maxRequest {
		return refused(intent.TooLarge, "a transaction of %d bytes", size)
	}
	return checkOverlap(then)
}

// checkOverlap refuses a key that is put twice, or put and deleted.
func checkOverlap(then []kv.Op) error {
	puts, deletes, prefixes := map[string]int{}, map[string]bool{}, []string{}
	for _, op := range then {
		switch {
		case !op.Delete:
			puts[op.Key]++
		case op.Prefix:
			prefixes = append(prefixes, op.Key)
		default:
			deletes[op.Key] = true
		}
	}
	for key, times := range puts {
		within := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if times > 1 || deletes[key] || within {
			return refused(intent.Invalid, "%s is touched twice", key)
		}
	}
	return nil
}

func refused(code intent.Code, format string, values ...any) error {
	return &intent.Error{Code: code, Detail: fmt.Sprintf(format, values...)}
}

func (f *Fake) holds(c kv.Compare) bool {
	item, exists := f.items[c.Key]
	switch {
	case c.Exists:
		return exists
	case c.Prefix:
		return f.below(c.Key) == 0
	case c.NotAfter != 0:
		return f.below(c.Key) <= c.NotAfter
	case c.CreatedAt != 0:
		return item.CreateRevision == c.CreatedAt
	}
	return item.ModRevision == c.ModRevision
}

// below is the revision of the latest key below a prefix, 0 for none.
func (f *Fake) below(prefix string) (latest int64) {
	for _, key := range f.keysBelow(prefix) {
		latest = max(latest, f.items[key].ModRevision)
	}
	return latest
}

// apply executes the operations under one new revision, and none when they
// change nothing.
func (f *Fake) apply(then []kv.Op) {
	revision := f.revision + 1
	var changes []change
	for _, op := range then {
		switch {
		case !op.Delete:
			changes = append(changes, f.put(op, revision))
		case !op.Prefix:
			changes = append(changes, f.remove(op.Key, revision)...)
		default:
			for _, key := range slices.Clone(f.keysBelow(op.Key)) {
				changes = append(changes, f.remove(key, revision)...)
			}
		}
	}
	if len(changes) == 0 {
		return
	}
	f.revision = revision
	f.history = append(f.history, changes...)
	f.tell()
}

func (f *Fake) put(op kv.Op, revision int64) change {
	previous := f.existing(op.Key)
	item := kv.Item{Key: op.Key, Value: slices.Clone(op.Value), CreateRevision: revision, ModRevision: revision}
	if previous != nil {
		item.CreateRevision = previous.CreateRevision
	} else {
		at, _ := slices.BinarySearch(f.keys, op.Key)
		f.keys = slices.Insert(f.keys, at, op.Key)
	}
	f.items[op.Key] = item
	for _, l := range f.leases {
		delete(l.keys, op.Key)
	}
	if op.Lease != 0 {
		f.leases[op.Lease].keys[op.Key] = true
	}
	return change{event: kv.Event{Item: item}, revision: revision, previous: previous}
}

func (f *Fake) remove(key string, revision int64) []change {
	previous := f.existing(key)
	if previous == nil {
		return nil
	}
	delete(f.items, key)
	at, _ := slices.BinarySearch(f.keys, key)
	f.keys = slices.Delete(f.keys, at, at+1)
	for _, l := range f.leases {
		delete(l.keys, key)
	}
	gone := kv.Event{Item: kv.Item{Key: key, ModRevision: revision}, Deleted: true}
	return []change{{event: gone, revision: revision, previous: previous}}
}

func (f *Fake) existing(key string) *kv.Item {
	item, ok := f.items[key]
	if !ok {
		return nil
	}
	return &item
}
