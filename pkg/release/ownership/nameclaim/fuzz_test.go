package nameclaim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// FuzzKeys: whatever a view and a name are made of, what was claimed is read back
// under that key alone, one by one and in pages.
func FuzzKeys(f *testing.F) {
	f.Add("public", "www.lab.example", "public", "*.lab.example")
	f.Add("a/b", "c", "a", "b/c")
	f.Add("a%2Fb", "c", "a/b", "c")
	f.Add("", "\x00\xff", "..", ".")
	f.Fuzz(func(t *testing.T, view, name, otherView, otherName string) {
		key, other := nameclaim.Key{View: view, Name: name}, nameclaim.Key{View: otherView, Name: otherName}
		store := nameclaim.Store{KV: kvtest.NewFake()}
		claim := nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{Group: "projects/shop/g", UID: "u"}}}
		require.NoError(t, store.Write(t.Context(), []nameclaim.Change{{Key: key, Claim: claim}}))
		page, err := store.Page(t.Context(), nameclaim.Key{}, 10)
		require.NoError(t, err)
		require.Len(t, page, 1)
		require.Equal(t, key, page[0].Key)
		if key != (nameclaim.Key{}) {
			page, err = store.Page(t.Context(), key, 10)
			require.NoError(t, err)
			require.Empty(t, page, "it is not behind itself")
		}
		found, err := store.Read(t.Context(), []nameclaim.Key{key, other})
		require.NoError(t, err)
		require.Equal(t, claim.Entries, found[key].Entries)
		require.Equal(t, key == other, len(found[other].Entries) > 0)
	})
}

// FuzzStored: of what is stored as a claim, each reader makes the same, or an
// error that says where it is.
func FuzzStored(f *testing.F) {
	f.Add("public/www.lab.example", []byte(`{"project":"shop","entries":[{"uid":"u","through":"r"}]}`))
	f.Add("public", []byte(`{}`))
	f.Add("%zz/www", []byte(`null`))
	f.Add("public/www", []byte(`{"entries":[{"since":"never"}]}`))
	f.Fuzz(func(t *testing.T, at string, value []byte) {
		fake := kvtest.NewFake()
		_, _, err := fake.Txn(context.Background(), nil, kv.Put("/signpost/name/"+at, value))
		require.NoError(t, err)
		store := nameclaim.Store{KV: fake}
		page, err := store.Page(t.Context(), nameclaim.Key{}, 10)
		if err != nil {
			require.ErrorContains(t, err, "/signpost/name/"+at)
			return
		}
		require.Len(t, page, 1)
		names, err := store.Count(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[string]int{page[0].Key.View: 1}, names)
	})
}
