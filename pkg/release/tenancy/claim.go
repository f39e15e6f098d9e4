package tenancy

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// claimHolds is how long a claim counts whose release cannot be found: accepting
// one takes less.
const claimHolds = time.Minute

// claimKey answers whose a key is from now on: another's who holds it, or mine.
// Lost races are those of their caller, who repeats them.
func claimKey[Claim any](ctx context.Context, store kv.KV, key string, mine Claim, anothers func(held Claim) (bool, error)) (Claim, error) {
	item, _, err := store.Get(ctx, key)
	if err != nil {
		return mine, err
	}
	if item != nil {
		var held Claim
		if err := json.Unmarshal(item.Value, &held); err != nil {
			return mine, err
		}
		if stays, err := anothers(held); err != nil || stays {
			return held, err
		}
	}
	raw, err := json.Marshal(mine)
	if err != nil {
		return mine, err
	}
	done, _, err := store.Txn(ctx, []kv.Compare{kv.Unchanged(key, item)}, kv.Put(key, raw))
	if err == nil && !done {
		err = &intent.Error{Code: intent.PreconditionFailed, Detail: key + " has just been claimed"}
	}
	return mine, err
}
