package nameclaim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// BenchmarkClaim10000 is what an acceptance of 10,000 names spends on claims, in
// etcd on a disk: each is read, judged and written.
func BenchmarkClaim10000(b *testing.B) {
	server, err := etcd.StartEmbedded(b.Context(), etcd.EmbeddedOptions{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	s := nameclaim.Store{KV: server.KV()}
	const group intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	for turn := 0; b.Loop(); turn++ {
		var keys []nameclaim.Key
		for n := range 10_000 {
			keys = append(keys, nameclaim.Key{View: "public", Name: fmt.Sprintf("n%d-%d.lab.example", turn, n)})
		}
		claims, err := s.Read(b.Context(), keys)
		require.NoError(b, err)
		changes := make([]nameclaim.Change, len(keys))
		for n, key := range keys {
			changes[n].Key = key
			changes[n].Claim, _, _, err = claims[key].Request("shop", nameclaim.Entry{Group: group, Context: "c"}, func(nameclaim.Entry) (bool, error) { return true, nil })
			require.NoError(b, err)
		}
		require.NoError(b, s.Write(b.Context(), changes))
	}
}
