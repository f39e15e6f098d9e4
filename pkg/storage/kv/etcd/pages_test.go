package etcd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// counted is how many requests read ranges, and how many keys etcd has counted for them.
type counted struct{ requests, keys int64 }

// newCounted is a store with keys, and what its reads cost.
func newCounted(t *testing.T, all []string) (*etcd.KV, *counted) {
	t.Helper()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true})
	cost := &counted{}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{server.ClientURL()},
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, ask, answer any, on *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
			err := call(ctx, method, ask, answer, on, options...)
			if found, is := answer.(*etcdserverpb.RangeResponse); is {
				cost.requests, cost.keys = cost.requests+1, cost.keys+found.Count
			}
			return err
		})},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	for some := range slices.Chunk(all, kv.MaxOps) {
		var puts []clientv3.Op
		for _, key := range some {
			puts = append(puts, clientv3.OpPut(key, "small"))
		}
		_, err := client.Txn(t.Context()).Then(puts...).Commit()
		require.NoError(t, err)
	}
	return etcd.New(client), cost
}

// TestASmallValueIsNoReasonForManyRequests: a bound on the bytes costs a few requests more, of growing pages.
func TestASmallValueIsNoReasonForManyRequests(t *testing.T) {
	t.Parallel()
	var all []string
	for n := range 1000 {
		all = append(all, fmt.Sprintf("k/%04d", n))
	}
	store, cost := newCounted(t, all)
	seen := 0
	require.NoError(t, kv.Each(t.Context(), store, "k/", func(kv.Item) { seen++ }))
	require.Equal(t, 1000, seen)
	require.LessOrEqual(t, cost.requests, int64(5))
}

// TestPagesCostWhatTheyRead: etcd counts about as many keys as are read, not all that lie behind a page.
func TestPagesCostWhatTheyRead(t *testing.T) {
	t.Parallel()
	const names, limit = 30_000, 500
	all := []string{"/names//projects/shop/dns-update-records/lab"} // far in front of the others
	for n := range names - 1 {
		all = append(all, fmt.Sprintf("/names//projects/shop/names/n%06d.lab.example", n))
	}
	store, cost := newCounted(t, all)
	page := func(after string) []kv.Item {
		items, _, err := store.Range(t.Context(), kv.Range{Prefix: "/names/", After: after, Limit: limit})
		require.NoError(t, err)
		return items
	}
	seen := 0
	for items := page(""); len(items) > 0; items = page(items[len(items)-1].Key) {
		seen += len(items)
	}
	require.Equal(t, names, seen)
	require.Less(t, cost.keys, int64(4*names), "the first page alone counts all; pages of all would count %d", names*names/limit/2)
	require.Less(t, cost.requests, int64(3*names/limit))

	// The first page again, and one behind a key that is not there, and after which nothing comes for long.
	for _, after := range []string{"", "/names//a/"} {
		for range 2 {
			*cost = counted{}
			page(after)
			require.Less(t, cost.keys, int64(10*limit), "behind %q", after)
		}
		require.Equal(t, int64(1), cost.requests, "behind %q", after)
	}
}

// TestPagesAreThoseOfTheWholeRange, wherever keys lie and wherever a page begins.
func TestPagesAreThoseOfTheWholeRange(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var all []string
	for _, below := range []string{"a/", "a/bb/bb/bb/bb/", "a/c\x00", "a/\xff\xff\xff\xff\xff\xff\xff\xff", "b/"} {
		for range 1500 {
			key := []byte(below)
			for range random.IntN(10) {
				key = append(key, byte(random.IntN(256)))
			}
			all = append(all, string(key))
		}
		for n := range 1500 {
			all = append(all, fmt.Sprintf("%s%d", below, n*n*n))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	store, _ := newCounted(t, all)
	for range 300 {
		prefix := []string{"a/", "a/bb/", "a/c", "", "b/", "c/"}[random.IntN(6)]
		r := kv.Range{Prefix: prefix, Limit: []int64{1, 30, 500, 4500, 0}[random.IntN(5)], KeysOnly: true}
		if random.IntN(4) > 0 {
			r.After = all[random.IntN(len(all))]
		}
		var want []string
		for _, key := range all {
			if strings.HasPrefix(key, prefix) && (r.After == "" || key > r.After) && (r.Limit == 0 || len(want) < int(r.Limit)) {
				want = append(want, key)
			}
		}
		items, _, err := store.Range(t.Context(), r)
		require.NoError(t, err)
		var got []string
		for _, item := range items {
			got = append(got, item.Key)
		}
		require.Equal(t, want, got, "%+v", r)
	}
}
