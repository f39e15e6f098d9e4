package kvtest

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

func comparesDecide(t *testing.T, s Subject) {
	created := put(t, s, "dir/there", "one")
	modified := put(t, s, "dir/there", "two")
	for _, one := range []struct {
		reason string
		when   kv.Compare
		want   bool
	}{
		{"the revision it has", kv.Compare{Key: "dir/there", ModRevision: modified}, true},
		{"an older revision", kv.Compare{Key: "dir/there", ModRevision: created}, false},
		{"absence of what is there", kv.Compare{Key: "dir/there"}, false},
		{"absence of what is not", kv.Compare{Key: "dir/none"}, true},
		{"existence of what is there", kv.Exists("dir/there"), true},
		{"existence of what is not", kv.Exists("dir/none"), false},
		{"its create revision", kv.Compare{Key: "dir/there", CreatedAt: created}, true},
		{"another create revision", kv.Compare{Key: "dir/there", CreatedAt: modified}, false},
		{"an empty prefix", kv.Compare{Key: "other/", Prefix: true}, true},
		{"a prefix with keys", kv.Compare{Key: "dir/", Prefix: true}, false},
		{"nothing below a prefix after the last write", kv.NotAfter("dir/", modified), true},
		{"nothing below a prefix after an earlier write", kv.NotAfter("dir/", created), false},
		{"nothing below an empty prefix after any write", kv.NotAfter("other/", 1), true},
		{"unchanged since it was read", kv.Unchanged("dir/there", get(t, s, "dir/there")), true},
		{"unchanged absence", kv.Unchanged("dir/none", nil), true},
	} {
		done, _, err := s.Txn(t.Context(), []kv.Compare{one.when})
		require.NoError(t, err, one.reason)
		require.Equal(t, one.want, done, one.reason)
	}
}

func comparesAWholePrefix(t *testing.T, s Subject) {
	put(t, s, "dir/a", "one")
	put(t, s, "dir/b", "one")
	then := put(t, s, "dir/c", "one")
	put(t, s, "dir", "a neighbour")
	put(t, s, "dir0", "a neighbour")
	holds := func() bool {
		done, _, err := s.Txn(t.Context(), []kv.Compare{kv.NotAfter("dir/", then)})
		require.NoError(t, err)
		return done
	}
	require.True(t, holds(), "what is not below the prefix does not count")
	_, _, err := s.Txn(t.Context(), nil, kv.Delete("dir/c"))
	require.NoError(t, err)
	require.True(t, holds(), "a delete is not seen")
	put(t, s, "dir/a", "two")
	require.False(t, holds(), "the first key was written since")
	then = put(t, s, "dir/a/new", "one")
	require.True(t, holds())
	put(t, s, "dir/z", "one")
	require.False(t, holds(), "a key came")
}

func transactionIsWholeOrNot(t *testing.T, s Subject) {
	before := put(t, s, "a", "one")
	done, revision, err := s.Txn(t.Context(),
		[]kv.Compare{{Key: "a", ModRevision: before}, kv.Exists("none")},
		kv.Put("b", []byte("x")), kv.Delete("a"))
	require.NoError(t, err)
	require.False(t, done, "one compare of two does not hold")
	require.Equal(t, before, revision)
	require.NotNil(t, get(t, s, "a"))
	require.Nil(t, get(t, s, "b"))

	done, revision, err = s.Txn(t.Context(), []kv.Compare{kv.Exists("a")}, kv.Put("b", []byte("x")), kv.Delete("a"))
	require.NoError(t, err)
	require.True(t, done)
	require.Nil(t, get(t, s, "a"))
	require.Equal(t, revision, get(t, s, "b").ModRevision)
}

func transactionOfThousands(t *testing.T, s Subject) {
	var ops []kv.Op
	for i := range 4096 {
		ops = append(ops, kv.Put(fmt.Sprintf("many/%d", i), []byte("v")))
	}
	done, revision, err := s.Txn(t.Context(), []kv.Compare{{Key: "many/", Prefix: true}}, ops...)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, revision, get(t, s, "many/0").ModRevision)
	require.Equal(t, revision, get(t, s, "many/4095").ModRevision, "one revision for all")

	done, _, err = s.Txn(t.Context(), []kv.Compare{{Key: "many/", Prefix: true}}, ops...)
	require.NoError(t, err)
	require.False(t, done)
}

func transactionRefusals(t *testing.T, s Subject) {
	many := make([]kv.Compare, kv.MaxOps+1)
	for i := range many {
		many[i] = kv.Compare{Key: fmt.Sprintf("k%d", i)}
	}
	for _, one := range []struct {
		reason string
		when   []kv.Compare
		then   []kv.Op
		want   intent.Code
	}{
		{"too many compares", many, nil, intent.Invalid},
		{"a key put twice", nil, []kv.Op{kv.Put("k", nil), kv.Put("k", nil)}, intent.Invalid},
		{"a key put and deleted", nil, []kv.Op{kv.Put("k", nil), kv.Delete("k")}, intent.Invalid},
		{"a key put below a deleted prefix", nil, []kv.Op{kv.DeletePrefix("k"), kv.Put("k/a", nil)}, intent.Invalid},
		{"2 MiB", nil, []kv.Op{kv.Put("k", make([]byte, 2<<20))}, intent.TooLarge},
	} {
		_, _, err := s.Txn(t.Context(), one.when, one.then...)
		require.Equal(t, one.want, intent.CodeOf(err), "%s: %v", one.reason, err)
	}
	require.Empty(t, keys(t, s, kv.Range{}))
}

func deletingNothing(t *testing.T, s Subject) {
	before := put(t, s, "k", "v")
	done, revision, err := s.Txn(t.Context(), nil, kv.Delete("none"), kv.DeletePrefix("none/"))
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, before, revision)
}

func concurrentSwapsAllCount(t *testing.T, s Subject) {
	const writers, each = 4, 25
	put(t, s, "n", "0")
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				increment(t, s)
			}
		})
	}
	group.Wait()
	require.Equal(t, strconv.Itoa(writers*each), string(get(t, s, "n").Value))
}

func increment(t *testing.T, s kv.KV) {
	for {
		item, _, err := s.Get(t.Context(), "n")
		if err != nil {
			t.Error(err)
			return
		}
		n, err := strconv.Atoi(string(item.Value))
		if err != nil {
			t.Error(err)
			return
		}
		done, _, err := s.Txn(t.Context(), []kv.Compare{kv.Unchanged("n", item)}, kv.Put("n", []byte(strconv.Itoa(n+1))))
		if err != nil {
			t.Error(err)
		}
		if done || err != nil {
			return
		}
	}
}
