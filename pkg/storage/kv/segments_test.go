package kv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestSegmentsAreListedOnce checks names that begin with other names, which are
// neighbours in the order of keys.
func TestSegmentsAreListedOnce(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	var ops []kv.Op
	for _, key := range []string{"/c/hub/1", "/c/hub/2/3", "/c/hub-2/1", "/c/hub2/1", "/c/hub2/2", "/c/paris/1", "/d/rome/1"} {
		ops = append(ops, kv.Put(key, nil))
	}
	_, _, err := store.Txn(t.Context(), nil, ops...)
	require.NoError(t, err)
	segments, err := kv.Segments(t.Context(), store, "/c/")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"hub", "hub-2", "hub2", "paris"}, segments)
}
