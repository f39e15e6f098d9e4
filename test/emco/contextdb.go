package emco

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// contextDB reads and writes etcd as EMCO's parts do: a put per key, every
// value as JSON, no transactions, and nothing but luck against other writers.
type contextDB struct {
	client *clientv3.Client

	mu    sync.Mutex
	limit int // puts until the crash; negative for none
}

// errCrashed is what is left of a process that was killed in the middle.
var errCrashed = errors.New("the orchestrator was killed while it wrote")

// crashAfter lets only so many more puts through.
func (d *contextDB) crashAfter(puts int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = puts
}

// spend takes one put from the limit.
func (d *contextDB) spend() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.limit == 0:
		return errCrashed
	case d.limit > 0:
		d.limit--
	}
	return nil
}

func (d *contextDB) put(ctx context.Context, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := d.spend(); err != nil {
		return err
	}
	_, err = d.client.Put(ctx, key, string(text))
	return err
}

// putText writes JSON as a JSON text.
func (d *contextDB) putText(ctx context.Context, key string, value any) error {
	return d.put(ctx, key, string(marshal(value)))
}

// batch gathers puts for transactions.
type batch struct {
	client *clientv3.Client
	puts   []clientv3.Op
}

// transaction is how many puts fit into one, for etcd.
const transaction = 128

func (d *contextDB) batch() *batch { return &batch{client: d.client} }

func (b *batch) put(key string, value any) error {
	text, err := json.Marshal(value)
	b.puts = append(b.puts, clientv3.OpPut(key, string(text)))
	return err
}

func (b *batch) write(ctx context.Context) error {
	for puts := range slices.Chunk(b.puts, transaction) {
		if _, err := b.client.Txn(ctx).Then(puts...).Commit(); err != nil {
			return err
		}
	}
	return nil
}

// get reads a key into a value; false if there is no such key.
func (d *contextDB) get(ctx context.Context, key string, into any) (bool, error) {
	answer, err := d.client.Get(ctx, key)
	if err != nil || len(answer.Kvs) == 0 {
		return false, err
	}
	if err := json.Unmarshal(answer.Kvs[0].Value, into); err != nil {
		return true, fmt.Errorf("%s: %w", key, err)
	}
	return true, nil
}

// has tells whether there is such a key.
func (d *contextDB) has(ctx context.Context, key string) (bool, error) {
	answer, err := d.client.Get(ctx, key, clientv3.WithCountOnly())
	return err == nil && answer.Count > 0, err
}

// prefix reads all keys that begin so.
func (d *contextDB) prefix(ctx context.Context, prefix string) (map[string]string, error) {
	answer, err := d.client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(answer.Kvs))
	for _, item := range answer.Kvs {
		values[string(item.Key)] = string(item.Value)
	}
	return values, nil
}

func (d *contextDB) remove(ctx context.Context, key string) error {
	_, err := d.client.Delete(ctx, key)
	return err
}

func (d *contextDB) removePrefix(ctx context.Context, prefix string) error {
	_, err := d.client.Delete(ctx, prefix, clientv3.WithPrefix())
	return err
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
