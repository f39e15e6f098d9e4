package etcd_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestWatchTellsWhichDocumentsOfACollectionChange, deletions and lost history too, and
// nothing of other collections.
func TestWatchTellsWhichDocumentsOfACollectionChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := kvtest.NewFake()
		s := etcd.New(fake)
		put := func(path intent.Path, body string) {
			_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(body), Condition: intent.Always()})
			require.NoError(t, err)
		}
		changes := s.Watch(t.Context(), "lifecycle", 1)
		put("lifecycle/projects/shop/names/www.shop.example", `{}`)
		put("projects/shop", `{}`)
		require.NoError(t, s.Delete(t.Context(), "lifecycle/projects/shop/names/www.shop.example", intent.Always()))
		for range 2 {
			require.Equal(t, []intent.Path{"lifecycle/projects/shop/names/www.shop.example"}, (<-changes).Paths)
		}
		require.NoError(t, fake.Compact(t.Context()))
		put("lifecycle/projects/shop", `{}`)
		require.True(t, (<-s.Watch(t.Context(), "lifecycle", 1)).Lost)
	})
}
