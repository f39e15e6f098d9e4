package removal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Sweep forgets removals that do not count any more. It takes out of the books what steps and requests that died have left there.
// These are held names that no lifecycle tells of, and permits that no step uses any more. Both are found twice before, because a step
// or a request may be under way. So Sweep is called no more often than these take. It must not be called twice at once.
func (s *Guard) Sweep(ctx context.Context) error {
	found := map[string]int64{}
	accounts, _, err := s.KV.Range(ctx, kv.Range{Prefix: accountsPrefix})
	for _, item := range accounts {
		err = errors.Join(err, s.sweepAccount(ctx, item, found))
	}
	permits, _, failed := s.KV.Range(ctx, kv.Range{Prefix: allPermits})
	err = errors.Join(err, failed)
	for some := range slices.Chunk(permits, kv.MaxOps) {
		err = errors.Join(err, s.sweepPermits(ctx, some, found))
	}
	s.suspects = found
	return err
}

// foundBefore tells whether the last sweep has found an item, too, as it is.
func (s *Guard) foundBefore(item kv.Item) bool { return s.suspects[item.Key] == item.ModRevision }

func (s *Guard) sweepAccount(ctx context.Context, item kv.Item, found map[string]int64) error {
	var account guard.Account
	if err := json.Unmarshal(item.Value, &account); err != nil {
		return fmt.Errorf("%s: %w", item.Key, err)
	}
	record := intent.Path(strings.TrimPrefix(item.Key, accountsPrefix))
	if account.Idle(s.Now()) {
		_, _, err := s.KV.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, kv.Delete(item.Key), kv.DeletePrefix(sharesPrefix(record)))
		return err
	}
	if account.Held == 0 {
		return nil
	}
	orphans, err := s.orphans(ctx, record, found)
	if err != nil || len(orphans) == 0 {
		return err
	}
	return s.takeBack(ctx, item, account, orphans[:min(len(orphans), kv.MaxOps-1)])
}

// orphans are shares whose held names no lifecycle tells of, of those that the last sweep has found, too.
func (s *Guard) orphans(ctx context.Context, record intent.Path, found map[string]int64) (orphans []kv.Item, err error) {
	shares, _, err := s.KV.Range(ctx, kv.Range{Prefix: sharesPrefix(record)})
	for some := range slices.Chunk(shares, kv.MaxOps) {
		lifecycles, err := s.lifecycles(ctx, some)
		if err != nil {
			return nil, err
		}
		for n, share := range some {
			var its guard.Share
			if err := json.Unmarshal(share.Value, &its); err != nil {
				return nil, fmt.Errorf("%s: %w", share.Key, err)
			}
			if its.Held == 0 || lifecycles[n].RetainedOf(record).Names > 0 {
				continue
			}
			found[share.Key] = share.ModRevision
			if s.foundBefore(share) {
				orphans = append(orphans, share)
			}
		}
	}
	return orphans, err
}

// takeBack takes the held names of shares out of their account, unless one of them was written meanwhile.
func (s *Guard) takeBack(ctx context.Context, item kv.Item, account guard.Account, shares []kv.Item) error {
	when, then := []kv.Compare{kv.Unchanged(item.Key, &item)}, []kv.Op(nil)
	for _, share := range shares {
		var its guard.Share
		if err := json.Unmarshal(share.Value, &its); err != nil {
			return fmt.Errorf("%s: %w", share.Key, err)
		}
		account.Held, its.Held = account.Held-its.Held, 0
		op := kv.Delete(share.Key)
		if len(its.Gone) > 0 {
			raw, err := json.Marshal(its)
			if err != nil {
				return err
			}
			op = kv.Put(share.Key, raw)
		}
		when, then = append(when, kv.Unchanged(share.Key, &share)), append(then, op)
	}
	raw, err := json.Marshal(account)
	if err == nil {
		_, _, err = s.KV.Txn(ctx, when, append(then, kv.Put(item.Key, raw))...)
	}
	return err
}

func (s *Guard) sweepPermits(ctx context.Context, permits []kv.Item, found map[string]int64) error {
	lifecycles, err := s.lifecycles(ctx, permits)
	if err != nil {
		return err
	}
	pinned := map[intent.Path]string{} // context ids of records
	for n, item := range permits {
		var its []guard.Permit
		if err := json.Unmarshal(item.Value, &its); err != nil {
			return fmt.Errorf("%s: %w", item.Key, err)
		}
		record, _ := ofOwner(item.Key)
		if _, known := pinned[record]; !known {
			l, err := s.RecordLifecycle(ctx, record)
			if err != nil {
				return err
			}
			pinned[record] = l.ContextID
		}
		l := lifecycles[n]
		counts := func(p guard.Permit) bool { return p.For == l.ContextID || p.For == pinned[record] }
		told := slices.ContainsFunc(l.Retained, func(h state.RetainedNames) bool { return h.Record == record })
		if slices.ContainsFunc(its, counts) && (told || !l.Settled) {
			continue // a step uses it
		}
		found[item.Key] = item.ModRevision
		if !s.foundBefore(item) {
			continue
		}
		if _, _, err := s.KV.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, kv.Delete(item.Key)); err != nil {
			return err
		}
	}
	return nil
}

// ofOwner are the record and the owner of a key of a share or of permits.
func ofOwner(key string) (record, owner intent.Path) {
	under := strings.TrimPrefix(strings.TrimPrefix(key, allPermits), allShares)
	of, its, _ := strings.Cut(under, "//")
	return intent.Path(of), intent.Path(its)
}

// lifecycles are those of the owners of some shares or permits, in their order; empty of owners that are gone.
func (s *Guard) lifecycles(ctx context.Context, of []kv.Item) ([]state.Lifecycle, error) {
	paths := make([]intent.Path, len(of))
	for n, item := range of {
		_, owner := ofOwner(item.Key)
		paths[n] = state.LifecyclePath(owner)
	}
	docs, err := s.Documents.GetAll(ctx, slices.Compact(slices.Sorted(slices.Values(paths))))
	if err != nil {
		return nil, err
	}
	at := map[intent.Path]state.Lifecycle{}
	for _, doc := range docs {
		if at[doc.Path], err = state.ReadLifecycle(doc); err != nil {
			return nil, err
		}
	}
	lifecycles := make([]state.Lifecycle, len(of))
	for n, path := range paths {
		lifecycles[n] = at[path]
	}
	return lifecycles, nil
}
