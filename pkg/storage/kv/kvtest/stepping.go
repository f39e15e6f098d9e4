package kvtest

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Stepping is a store that calls Step before and after each transaction, for suites of crashes.
type Stepping struct {
	kv.KV

	Step func(name string) error
}

// Txn implements kv.KV.
func (s Stepping) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	if err := s.Step("before the transaction"); err != nil {
		return false, 0, err
	}
	done, revision, err := s.KV.Txn(ctx, when, then...)
	if err == nil {
		err = s.Step("after the transaction")
	}
	return done, revision, err
}
