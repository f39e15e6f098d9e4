package removal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Permit writes down that names of a record may go that somebody has asked for, by group.
func (s *Guard) Permit(ctx context.Context, record intent.Path, permits map[intent.Path]guard.Permit) error {
	groups := slices.Sorted(maps.Keys(permits))
	for len(groups) > 0 {
		written := 0
		for n := 0; n < attempts && written == 0; n++ {
			var err error
			if written, err = s.permit(ctx, record, groups[:min(len(groups), kv.MaxOps)], permits); err != nil {
				return err
			}
		}
		if written == 0 {
			return overtaken(record)
		}
		groups = groups[written:]
	}
	return nil
}

// permit writes the permits of the first groups, as many as fit into a transaction; 0: others have written meanwhile.
func (s *Guard) permit(ctx context.Context, record intent.Path, groups []intent.Path, permits map[intent.Path]guard.Permit) (written int, err error) {
	var keys []string
	for _, group := range groups {
		keys = append(keys, permitsPrefix(record)+string(group))
	}
	items, _, err := s.KV.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return 0, err
	}
	var when []kv.Compare
	var ops []kv.Op
	for n, group := range groups {
		var before []guard.Permit
		unchanged := kv.Unchanged(keys[n], nil)
		if len(items) > 0 && items[0].Key == keys[n] {
			if err := json.Unmarshal(items[0].Value, &before); err != nil {
				return 0, fmt.Errorf("%s: %w", keys[n], err)
			}
			unchanged, items = kv.Unchanged(keys[n], &items[0]), items[1:]
		}
		raw, err := json.Marshal(guard.Permitted(before, permits[group]))
		if err != nil {
			return 0, err
		}
		when, ops = append(when, unchanged), append(ops, kv.Put(keys[n], raw))
	}
	for batch := range kv.Batches(slices.Values(ops)) {
		done, _, err := s.KV.Txn(ctx, when[:len(batch)], batch...)
		if err != nil || !done {
			return 0, err
		}
		return len(batch), nil
	}
	return 0, nil
}
