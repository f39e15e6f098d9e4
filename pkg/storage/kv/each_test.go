package kv_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestEachVisitsAllItemsInPages, in order, and fails with the store.
func TestEachVisitsAllItemsInPages(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	const items = 9000
	for n := range items {
		_, _, err := fake.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("/a/%05d", n), []byte("x")))
		require.NoError(t, err)
	}
	_, _, err := fake.Txn(t.Context(), nil, kv.Put("/b/1", []byte("x")))
	require.NoError(t, err)
	reads := 0
	fake.Before = func(string, string) error { reads++; return nil }
	var keys []string
	require.NoError(t, kv.Each(t.Context(), fake, "/a/", func(item kv.Item) { keys = append(keys, item.Key) }))
	require.Len(t, keys, items)
	require.IsIncreasing(t, keys)
	require.Equal(t, 4, reads, "a page has four thousand items, and the last one none")
	fake.Before = func(string, string) error { return &intent.Error{Code: intent.Unavailable, Detail: "down"} }
	require.Error(t, kv.Each(t.Context(), fake, "/a/", func(kv.Item) {}))
}
