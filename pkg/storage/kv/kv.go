// Package kv is the narrow edge to etcd: the operations that Signpost needs, and no more.
// All code runs against these interfaces, over a real server and over a simulated one.
package kv

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"
)

// ErrCompacted is the error of Range when the requested revision is no longer kept: the
// caller lists again, at a newer one.
var ErrCompacted = errors.New("the revision has been compacted")

// Item is one key with its value and the store's revision that wrote it.
type Item struct {
	Key            string
	Value          []byte
	CreateRevision int64
	ModRevision    int64
}

// Compare is a condition of a transaction on one key or prefix.
type Compare struct {
	Key         string
	ModRevision int64 // the key was last written at this revision; 0: it does not exist
	Prefix      bool  // Key is a prefix, and no key below it exists; ModRevision must be 0
	NotAfter    int64 // when not 0, Key is a prefix, and no key below it was written after this revision; deletes are not seen
	CreatedAt   int64 // when not 0, compares the key's create revision instead
	Exists      bool  // the key exists, whenever it was written; the fields above but Key are ignored
}

// Op is one operation of a transaction: a put, or a delete of a key or prefix.
type Op struct {
	Key    string
	Value  []byte
	Lease  int64 // attaches a put key to a lease, 0 for none
	Delete bool
	Prefix bool // deletes all keys below Key
}

// Put writes a key.
func Put(key string, value []byte) Op { return Op{Key: key, Value: value} }

// Delete removes a key.
func Delete(key string) Op { return Op{Key: key, Delete: true} }

// DeletePrefix removes all keys that begin with prefix.
func DeletePrefix(prefix string) Op { return Op{Key: prefix, Delete: true, Prefix: true} }

// Exists compares that a key exists.
func Exists(key string) Compare { return Compare{Key: key, Exists: true} }

// NotAfter compares that no key that begins with prefix was written after a
// revision. It cannot tell that one was deleted.
func NotAfter(prefix string, revision int64) Compare {
	return Compare{Key: prefix, NotAfter: revision}
}

// Unchanged compares a key to the item that was read, or to its absence when
// item is nil.
func Unchanged(key string, item *Item) Compare {
	if item == nil {
		return Compare{Key: key}
	}
	return Compare{Key: key, ModRevision: item.ModRevision}
}

// Range selects keys by prefix, in key order, or names them. With both, the keys that are
// named come first, and then those with the prefix, all at one revision.
type Range struct {
	Prefix         string   // with Keys, empty for these alone
	Keys           []string // when not nil, those of these keys that exist, in this order; of the other fields, Revision, Prefix and Ahead alone apply
	Ahead          []string // with Keys, more prefixes, and at most AheadLimit keys of each: they follow all else, at the same revision
	After          string   // only keys behind this one
	Limit          int64    // at most so many, 0 for all (read in pages at one revision)
	Bytes          int64    // ends with the item by which the values have more bytes than this, 0 for no bound
	Revision       int64    // read as of this revision, 0 for now
	MinModRevision int64    // only keys written at this revision or later
	KeysOnly       bool
}

// AheadLimit is how many keys a Range answers of each prefix in its Ahead.
const AheadLimit = 256

// Limits of one transaction, as etcd sets them by default.
const (
	MaxOps   = 128       // operations (and, separately, compares) in a transaction
	MaxBytes = 1<<20 - 1 // bytes of keys and values that we put into one
)

// TellEvery is how often those who follow changes are told how far they have come.
const TellEvery = 5 * time.Second

// Event is a change of a watched key.
type Event struct {
	Item         // Value is empty when Deleted
	Deleted bool // the key is gone
}

// Batch is a group of events of one delivery, in revision order. A batch with
// Compacted set says that history was lost: the watcher reads everything
// again and goes on from there.
type Batch struct {
	Events    []Event
	Revision  int64
	Compacted bool
}

// KV is a linearizable key-value store with transactions, watches and leases. Errors are
// *intent.Error. Unavailable: the server does not answer or a transaction's outcome is
// unknown. TooLarge: a transaction exceeds the server's limit (1.5 MiB). Conflict: it
// names a lease that has ended. A request without an answer fails after some seconds, or
// at the context's deadline if that is nearer.
type KV interface {
	// Get answers the item, nil when the key does not exist, and the store's
	// revision.
	Get(ctx context.Context, key string) (*Item, int64, error)

	// Range answers the selected items and the revision they were read at, or
	// ErrCompacted when Revision is set and no longer kept.
	Range(ctx context.Context, r Range) ([]Item, int64, error)

	// Txn executes the operations when all compares hold, and answers whether
	// they did and the store's revision. No key may be touched twice. With at
	// most 64 compares up to 4,096 operations are possible, else MaxOps.
	Txn(ctx context.Context, when []Compare, then ...Op) (bool, int64, error)

	// Watch delivers changes below prefix from a revision on (inclusive; 0
	// for now). The channel closes when ctx ends; connection losses are
	// bridged. The events of one transaction arrive in one batch, perhaps with those of others.
	Watch(ctx context.Context, prefix string, from int64) <-chan Batch

	// Follow is Watch, and tells about every so often how far it has come: by a Batch
	// without events. All changes below prefix up to its Revision have been delivered
	// before it. It tells nothing while no change of the store has come since from.
	Follow(ctx context.Context, prefix string, from int64, every time.Duration) <-chan Batch

	// Lease opens a lease of about ttlSeconds that is kept alive until ctx
	// ends or the lease is lost. Lost closes in both cases and on Release,
	// before the server gives the lease up. Release revokes it at once.
	Lease(ctx context.Context, ttlSeconds int) (Lease, error)

	// Ping fails while the server does not answer.
	Ping(ctx context.Context) error
}

// Lease is a lease that is being kept alive.
type Lease interface {
	ID() int64
	Lost() <-chan struct{}
	Release(ctx context.Context) error
}

// Batches groups operations so that each group fits into a transaction.
func Batches(ops iter.Seq[Op]) iter.Seq[[]Op] {
	return func(yield func([]Op) bool) {
		var batch []Op
		size := 0
		for op := range ops {
			more := len(op.Key) + len(op.Value)
			if len(batch) == MaxOps || len(batch) > 0 && size+more > MaxBytes {
				if !yield(batch) {
					return
				}
				batch, size = nil, 0
			}
			batch, size = append(batch, op), size+more
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// Map delivers what a function makes of the batches of a watch, until ctx ends, when
// the channel closes.
func Map[T any](ctx context.Context, batches <-chan Batch, of func(Batch) T) <-chan T {
	out := make(chan T)
	go func() {
		defer close(out)
		for batch := range batches {
			select {
			case out <- of(batch):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// pageSize is how many items, and pageBytes how many bytes, Each reads at a time.
const (
	pageSize  = 4000
	pageBytes = 4 << 20
)

// Each visits the items below a prefix, in order, page by page. Each
// page is as it was when it was read.
func Each(ctx context.Context, store KV, prefix string, visit func(Item)) error {
	after := ""
	for {
		items, _, err := store.Range(ctx, Range{Prefix: prefix, After: after, Limit: pageSize, Bytes: pageBytes})
		if err != nil || len(items) == 0 {
			return err
		}
		for _, item := range items {
			visit(item)
		}
		after = items[len(items)-1].Key
	}
}

// Segments answers what comes between prefix, which ends in a slash, and the
// next slash, in all keys below prefix: each once, in order. It reads one key
// of each.
func Segments(ctx context.Context, store KV, prefix string) ([]string, error) {
	var segments []string
	after := ""
	for {
		items, _, err := store.Range(ctx, Range{Prefix: prefix, After: after, Limit: 1, KeysOnly: true})
		if err != nil || len(items) == 0 {
			return segments, err
		}
		segment, _, _ := strings.Cut(strings.TrimPrefix(items[0].Key, prefix), "/")
		segments = append(segments, segment)
		after = prefix + segment + "/\xff"
	}
}
