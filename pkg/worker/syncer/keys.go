package syncer

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// keys is what stands below a prefix, kept up to date by its user taking
// the changes.
type keys struct {
	kv      kv.KV
	prefix  string
	have    map[string]string // key to value
	changes <-chan kv.Batch
}

func watchKeys(ctx context.Context, store kv.KV, prefix string) (*keys, error) {
	k := &keys{kv: store, prefix: prefix}
	revision, err := k.list(ctx)
	if err != nil {
		return nil, err
	}
	k.changes = store.Watch(ctx, prefix, revision+1)
	return k, nil
}

func (k *keys) list(ctx context.Context) (int64, error) {
	items, revision, err := k.kv.Range(ctx, kv.Range{Prefix: k.prefix})
	if err != nil {
		return 0, err
	}
	k.have = map[string]string{}
	for _, item := range items {
		k.have[item.Key] = string(item.Value)
	}
	return revision, nil
}

// take brings the set up to a batch. more is false when the watch has ended.
func (k *keys) take(ctx context.Context, batch kv.Batch, more bool) error {
	if !more {
		return errors.New("the watch of " + k.prefix + " ended")
	}
	if batch.Compacted {
		_, err := k.list(ctx)
		return err
	}
	for _, event := range batch.Events {
		if event.Deleted {
			delete(k.have, event.Key)
		} else {
			k.have[event.Key] = string(event.Value)
		}
	}
	return nil
}
