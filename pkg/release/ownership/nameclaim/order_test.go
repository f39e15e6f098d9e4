package nameclaim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestWhoLosesTheFirstNameGetsNone checks a claim of more names than fit into one
// transaction, whose first name another one has claimed meanwhile.
func TestWhoLosesTheFirstNameGetsNone(t *testing.T) {
	t.Parallel()
	const names = 300
	store := nameclaim.Store{KV: kvtest.NewFake()}
	var keys []nameclaim.Key
	for n := range names {
		keys = append(keys, nameclaim.Key{View: "public", Name: fmt.Sprintf("n%03d.example", n)})
	}
	claims, err := store.Read(t.Context(), keys)
	require.NoError(t, err)
	claim := func(key nameclaim.Key, uid string) nameclaim.Change {
		is := claims[key]
		is.Entries = append(slices.Clone(is.Entries), nameclaim.Entry{UID: uid})
		return nameclaim.Change{Key: key, Claim: is}
	}
	var changes []nameclaim.Change
	for _, key := range slices.Backward(keys) {
		changes = append(changes, claim(key, "late"))
	}
	require.NoError(t, store.Write(t.Context(), []nameclaim.Change{claim(keys[0], "early")}))
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(store.Write(t.Context(), changes)))
	claimed, err := store.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"public": 1}, claimed)
}
