package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// tapped is an etcd with a tap before it.
func tapped(t *testing.T) (*Tap, *etcd.Server, *kvetcd.KV) {
	t.Helper()
	server, err := etcd.NewServer(t.Context(), t.TempDir(), &process.Ports{})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(server.Kill)
	tap := &Tap{}
	front, err := tap.Etcd(t.Context(), server.URL)
	require.NoError(t, err)
	t.Cleanup(front.Close)
	store, err := kvetcd.Dial(kvetcd.DialOptions{Endpoints: []string{front.URL}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return tap, server, store
}

func TestATapCountsWritesAndNoReads(t *testing.T) {
	tap, _, store := tapped(t)
	_, revision, err := store.Txn(t.Context(), nil, kv.Put("a", []byte("1")), kv.Put("b", nil))
	require.NoError(t, err)
	changes := store.Watch(t.Context(), "c", revision)
	_, _, err = store.Txn(t.Context(), []kv.Compare{kv.Exists("a")}, kv.Delete("c"))
	require.NoError(t, err)
	item, _, err := store.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "1", string(item.Value))
	_, _, err = store.Txn(t.Context(), []kv.Compare{kv.Exists("a")})
	require.NoError(t, err)
	require.Equal(t, []Write{{Edge: "etcd", What: "a"}, {Edge: "etcd", What: "c"}}, tap.Writes(""))
	require.Empty(t, tap.Writes("hub"))

	_, _, err = store.Txn(t.Context(), nil, kv.Put("c", nil))
	require.NoError(t, err)
	select {
	case batch := <-changes:
		require.Equal(t, "c", batch.Events[0].Key)
	case <-time.After(patience):
		require.FailNow(t, "streams do not pass")
	}
	_, _, err = store.Range(t.Context(), kv.Range{Revision: revision + 1000})
	require.ErrorContains(t, err, "future revision", "etcd's errors pass as they are")
	tap.Count()
	require.Empty(t, tap.Writes(""))
}

func TestATapStrikesBeforeOrAfterOneWrite(t *testing.T) {
	for moment, want := range map[Moment][]string{Before: {"k/a", "k/c"}, After: {"k/a", "k/b", "k/c"}} {
		t.Run(moment.String(), func(t *testing.T) {
			tap, server, store := tapped(t)
			dealt := 0
			struck := tap.Strike("etcd", 1, moment, func() { dealt++ })
			for _, key := range []string{"k/a", "k/b", "k/c"} {
				_, _, err := store.Txn(t.Context(), nil, kv.Put(key, nil))
				if key == "k/b" {
					require.Equal(t, intent.Unavailable, intent.CodeOf(err), "the answer is not passed on")
				} else {
					require.NoError(t, err)
				}
			}
			<-struck
			require.Equal(t, 1, dealt)
			found, err := server.Prefix(t.Context(), "k/")
			require.NoError(t, err)
			var keys []string
			for key := range found {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			require.Equal(t, want, keys)
		})
	}
}

func TestATapThatRestsStrikesAtNothing(t *testing.T) {
	tap, _, store := tapped(t)
	struck := tap.Strike("etcd", 1, Before, func() {})
	for _, key := range []string{"k/a", "k/b", "k/c"} {
		_, _, err := store.Txn(t.Context(), nil, kv.Put(key, nil))
		require.NoError(t, err)
		tap.Rest()
	}
	require.Len(t, tap.Writes("etcd"), 3)
	select {
	case <-struck:
		require.Fail(t, "it has struck")
	default:
	}
}

func TestMomentsAreSpreadEvenlyAndBeginWhereTheSeedSays(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for seed, want := range map[string][]int{"": {0, 2, 5, 7}, "1": {0, 2, 5, 7}, "2": {1, 3, 6, 8}, "4": {3, 5, 8, 0}} {
		t.Setenv(sample.SeedVariable, seed)
		require.Equal(t, want, Choose(t, all, 4), seed)
	}
	t.Setenv(sample.SeedVariable, "")
	t.Setenv(sample.RingVariable, "3")
	require.Equal(t, all, Choose(t, all, 4))
}
