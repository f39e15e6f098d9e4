package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// ErrLost is the error of a writer that no longer owns the cluster, or cannot know. A
// write whose answer was lost may still happen, over later ones. The next claim of the
// cluster fences it off.
var ErrLost = errors.New("the cluster has to be claimed anew")

// Ledger reads and writes the entries.
type Ledger struct {
	kv    kv.KV
	texts recent.Texts // that very many entries repeat
}

// New makes a Ledger over a key-value store.
func New(store kv.KV) *Ledger { return &Ledger{kv: store} }

// Cluster answers the cluster's entries, ordered by key. An abandoned cluster has none.
func (l *Ledger) Cluster(ctx context.Context, cluster string) ([]Entry, error) {
	entries, err := l.served(ctx, cluster, kv.Range{Prefix: clusterPrefix(cluster)})
	for n, e := range entries {
		entries[n] = l.share(e)
	}
	return entries, err
}

// share makes an entry share its texts with others, and leave the key that it was read from. There may be very many entries: what they
// have of their own is in one piece.
func (l *Ledger) share(e Entry) Entry {
	for _, text := range []*string{&e.ID.Cluster, &e.ID.Group, &e.ID.Kind, &e.ID.Namespace, (*string)(&e.Status)} {
		*text = l.texts.Shared(*text)
	}
	own := []*string{&e.ID.Name, &e.UID, &e.ResourceVersion, &e.Digest}
	for n := range e.Owners {
		own = append(own, &e.Owners[n])
	}
	recent.Join(own...)
	return e
}

// Entries answers those of the entries of a cluster's objects that there are, in the order
// of the objects. An abandoned cluster has none.
func (l *Ledger) Entries(ctx context.Context, cluster string, ids []bundle.ID) ([]Entry, error) {
	var keys []string
	for _, id := range ids {
		keys = append(keys, Key(id))
	}
	return l.served(ctx, cluster, kv.Range{Keys: keys})
}

// Beginning answers the entries of the objects that are as one is, but for the end of the name, ordered. An abandoned
// cluster has none.
func (l *Ledger) Beginning(ctx context.Context, id bundle.ID) ([]Entry, error) {
	return l.served(ctx, id.Cluster, kv.Range{Prefix: Key(id)})
}

// served are the entries of a range, none of an abandoned cluster.
func (l *Ledger) served(ctx context.Context, cluster string, r kv.Range) ([]Entry, error) {
	abandoned := AbandonedPrefix + cluster
	r.Keys = append([]string{abandoned}, r.Keys...)
	items, _, err := l.kv.Range(ctx, r)
	if err != nil || len(items) > 0 && items[0].Key == abandoned {
		return nil, err
	}
	return decodeAll(items)
}

// Get answers an object's entry; found is false when it has none.
func (l *Ledger) Get(ctx context.Context, id bundle.ID) (e Entry, found bool, err error) {
	item, _, err := l.kv.Get(ctx, Key(id))
	if err != nil || item == nil {
		return Entry{}, false, err
	}
	e, err = decode(*item)
	return e, err == nil, err
}

// Clusters answers the names of all clusters that have entries, in order. It
// reads one key of each.
func (l *Ledger) Clusters(ctx context.Context) ([]string, error) {
	return kv.Segments(ctx, l.kv, prefix)
}

// Identity answers what the cluster of this name identified itself by, empty
// when it was never seen.
func (l *Ledger) Identity(ctx context.Context, cluster string) (string, error) {
	_, uid, err := l.identity(ctx, cluster)
	return uid, err
}

// identity answers the key of a cluster's identity too, nil when it has none.
func (l *Ledger) identity(ctx context.Context, cluster string) (*kv.Item, string, error) {
	item, _, err := l.kv.Get(ctx, identityPrefix+cluster)
	if err != nil || item == nil {
		return nil, "", err
	}
	var record identity
	err = json.Unmarshal(item.Value, &record)
	return item, record.UID, err
}

type identity struct {
	UID string `json:"uid"`
}

// Reset notes the cluster's identity and drops all its entries, because they describe a
// cluster that is gone. It compares fence, the writer's ownership.
func (l *Ledger) Reset(ctx context.Context, fence kv.Compare, cluster, uid string) error {
	raw, err := json.Marshal(identity{UID: uid})
	if err != nil {
		return err
	}
	return l.commit(ctx, fence, kv.Put(identityPrefix+cluster, raw), kv.DeletePrefix(clusterPrefix(cluster)))
}

// Adopt notes the identity of a cluster that had none yet, and keeps its
// entries: intents from before it was first reached.
func (l *Ledger) Adopt(ctx context.Context, fence kv.Compare, cluster, uid string) error {
	raw, err := json.Marshal(identity{UID: uid})
	if err != nil {
		return err
	}
	return l.commit(ctx, fence, kv.Put(identityPrefix+cluster, raw))
}

// Own answers ErrLost unless fence, the compare of the writer's ownership, still
// holds.
func (l *Ledger) Own(ctx context.Context, fence kv.Compare) error { return l.commit(ctx, fence) }

// Write puts and removes entries in as few transactions as their limits allow,
// each fenced: ErrLost when the cluster has to be claimed anew. On an error
// some of them may have been written; writing the same again is harmless.
func (l *Ledger) Write(ctx context.Context, fence kv.Compare, put []Entry, remove []bundle.ID) error {
	ops := make([]kv.Op, 0, len(put)+len(remove))
	for _, e := range put {
		raw, err := json.Marshal(e.stored())
		if err != nil {
			return err
		}
		ops = append(ops, kv.Put(Key(e.ID), raw))
	}
	for _, id := range remove {
		ops = append(ops, kv.Delete(Key(id)))
	}
	for batch := range kv.Batches(slices.Values(ops)) {
		if err := l.commit(ctx, fence, batch...); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) commit(ctx context.Context, fence kv.Compare, ops ...kv.Op) error {
	owned, _, err := l.kv.Txn(ctx, []kv.Compare{fence}, ops...)
	if intent.CodeOf(err) == intent.Unavailable {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	if err != nil {
		return err
	}
	if !owned {
		return ErrLost
	}
	return nil
}
