package state_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// TestATryAfterAConflictReadsAnew, though its context reads as of an earlier time. What it writes ends that time.
func TestATryAfterAConflictReadsAnew(t *testing.T) {
	t.Parallel()
	store := &snapshot.Store{KV: kvtest.NewFake()}
	ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"a"}})
	require.NoError(t, err)
	_, _, err = store.Txn(t.Context(), nil, kv.Put("a", []byte("of others")))
	require.NoError(t, err)
	found, err := state.RetryOnConflict(ctx, "projects/shop/names/www.shop.example", func(ctx context.Context) (string, error) {
		if !snapshot.Reading(ctx) {
			ctx, _, err = store.Begin(ctx, kv.Range{})
			require.NoError(t, err)
		}
		item, _, err := store.Get(ctx, "a")
		require.NoError(t, err)
		if item == nil {
			return "", &intent.Error{Code: intent.PreconditionFailed}
		}
		_, _, err = store.Txn(ctx, nil, kv.Put("b", nil))
		return string(item.Value), err
	})
	require.NoError(t, err)
	require.Equal(t, "of others", found)
	require.True(t, at.Ended())
}
