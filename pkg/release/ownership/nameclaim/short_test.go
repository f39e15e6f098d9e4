package nameclaim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestAClaimNamesItsProjectOnce, and is read as it was written.
func TestAClaimNamesItsProjectOnce(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	store, key := nameclaim.Store{KV: fake}, nameclaim.Key{View: "public", Name: "www.lab.example"}
	const lab = "projects/shop/dns-update-records/lab"
	entries := []nameclaim.Entry{
		{Group: "projects/shop/names/www.lab.example", UID: "u", Through: lab},
		{Group: "projects/shop/names/lab.example", UID: "u", Through: lab},
		{Group: "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", UID: "u"},
		{Group: "projects/bank/names/www.lab.example", UID: "u", Through: "projects/bank/dns-update-records/lab"},
		{UID: "u", Through: lab, Stays: true},
	}
	require.NoError(t, store.Write(t.Context(), []nameclaim.Change{{Key: key, Claim: nameclaim.Claim{Project: "shop", Entries: entries}}}))
	found, err := store.Read(t.Context(), []nameclaim.Key{key})
	require.NoError(t, err)
	require.Equal(t, entries, found[key].Entries)
	item, _, err := fake.Get(t.Context(), "/signpost/name/public/www.lab.example")
	require.NoError(t, err)
	require.JSONEq(t, `{"project":"shop","entries":[
		{"uid":"u","through":"dns-update-records/lab"},
		{"group":"names/lab.example","uid":"u","through":"dns-update-records/lab"},
		{"group":"composite-apps/store/v1/deployment-intent-groups/prod","uid":"u","through":""},
		{"group":"projects/bank/names/www.lab.example","uid":"u","through":"projects/bank/dns-update-records/lab"},
		{"uid":"u","through":"dns-update-records/lab","stays":true}]}`, string(item.Value))
}
