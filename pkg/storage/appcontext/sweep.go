package appcontext

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// retiredKey is written whenever an owner has retired. Without it, a writer who has read that an owner never had a context
// could give it one after it has come and gone.
const retiredKey = "/signpost/retired"

func noneRetiredSince(revision int64) kv.Compare { return kv.NotAfter(retiredKey, revision) }

// Retire has Sweep forget an owner that is gone for good, with what it had last, unless it has something again by then. It
// does nothing to an owner that has a context.
func (s *Store) Retire(ctx context.Context, owner Owner) error {
	p, err := s.Current(ctx, owner)
	if err != nil || p.revision == 0 || p.ContextID != "" {
		return err
	}
	id := cmp.Or(p.Previous, NewID())
	_, _, err = s.kv.Txn(ctx, p.unchanged(), putJSON(claimKey(id), claim{Retires: owner, Since: s.now()}))
	return err
}

// Sweep removes contexts that nobody points to: those that are no longer kept,
// and those that crashed writers left, once they are older than age. It forgets owners that
// retired as long ago.
func (s *Store) Sweep(ctx context.Context, age time.Duration) error {
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: claimPrefix})
	if err != nil {
		return err
	}
	for _, item := range items {
		var c claim
		if err := json.Unmarshal(item.Value, &c); err != nil || s.now().Sub(c.Since) < age {
			continue
		}
		if err := s.remove(ctx, item, c.Retires); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a claimed context and its claim, and the owner that retires with it, unless the claim has changed.
func (s *Store) remove(ctx context.Context, claimed kv.Item, retires Owner) error {
	when := []kv.Compare{kv.Unchanged(claimed.Key, &claimed)}
	then := []kv.Op{kv.DeletePrefix(contextKey(strings.TrimPrefix(claimed.Key, claimPrefix))), kv.Delete(claimed.Key)}
	if retires != "" {
		p, err := s.Current(ctx, retires)
		if err != nil {
			return err
		}
		if p.revision > 0 && p.ContextID == "" {
			when = append(when, p.unchanged()...)
			then = append(then, kv.Delete(pointerKey(p.Owner)), kv.Delete(touchKey(p.Owner)), kv.Put(retiredKey, nil), kv.Put(movedKey, nil))
		}
	}
	_, _, err := s.kv.Txn(ctx, when, then...)
	return err
}
