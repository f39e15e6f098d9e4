package etcd_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestAFullStoreLetsDocumentsBeDeleted, and takes new ones when some have gone: not
// most of them have to. etcd notices only after some writes that its quota is reached,
// so that a fast disk holds a quarter more than that.
func TestAFullStoreLetsDocumentsBeDeleted(t *testing.T) {
	t.Parallel()
	server, err := kvetcd.StartEmbedded(t.Context(), kvetcd.EmbeddedOptions{
		Dir: t.TempDir(), Quota: 40 << 20, Keep: time.Second, Maintain: time.Second, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	s := etcd.New(server.KV())
	put := func(path intent.Path, text string, refs ...intent.Path) error {
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(`{"text":"` + text + `"}`), Refs: refs})
		return err
	}
	require.NoError(t, put("projects/greedy", ""))
	require.NoError(t, put("projects/modest", ""))
	many := func(n int) intent.Path { return intent.Path(fmt.Sprintf("projects/greedy/kv-pairs/%d", n)) }
	written := 0
	fill := func() (err error) {
		for !strings.Contains(fmt.Sprint(err), "space exceeded") { // on a busy machine, a write may also time out
			if err = put(many(written), strings.Repeat("x", 1<<20), "projects/greedy"); err == nil {
				written++
			}
		}
		return err
	}
	require.Equal(t, intent.Unavailable, intent.CodeOf(fill()))
	const fit = 28 // of 1 MiB each leave a quarter of the quota free
	require.Greater(t, written, fit)
	full := func() bool { return put("projects/modest/kv-pairs/small", "") != nil || fill() == nil } // it may have been defragmented since
	require.Eventually(t, full, time.Minute, time.Millisecond, "the store is full for all")
	require.True(t, server.Size().NearlyFull())

	for n := range written - fit {
		require.NoError(t, s.Delete(t.Context(), many(n), intent.Always()), n)
	}
	require.Eventually(t, func() bool { return put("projects/modest/kv-pairs/small", "") == nil }, time.Minute, 50*time.Millisecond)
	roomy := func() bool { return !server.Size().NearlyFull() }
	require.Eventually(t, roomy, time.Minute, 50*time.Millisecond, "compaction gives all of it back: %+v", server.Size())
}

// TestADeletionBesideAWriteOfManyReferencesIsNoticed: the first of a store, as every
// other.
func TestADeletionBesideAWriteOfManyReferencesIsNoticed(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	s := etcd.New(fake)
	put := func(path intent.Path, refs ...intent.Path) error {
		_, err := s.Put(t.Context(), intent.Write{Path: path, Body: []byte(`{}`), Refs: refs})
		return err
	}
	for round := range 3 {
		refs := make([]intent.Path, 50)
		for n := range refs {
			refs[n] = intent.Path(fmt.Sprintf("projects/p%d", n))
			require.NoError(t, put(refs[n]))
		}
		from := intent.Path(fmt.Sprintf("projects/from%d", round))
		fake.Before = func(op, key string) error {
			if op == "txn" && strings.Contains(key, "from") {
				fake.Before = nil
				require.NoError(t, s.Delete(t.Context(), refs[40], intent.Always()))
			}
			return nil
		}
		var missing *intent.MissingReference
		require.ErrorAs(t, put(from, refs...), &missing)
		require.Equal(t, refs[40], missing.To)

		require.NoError(t, put(refs[40]))
		require.NoError(t, put(from, refs...))
		require.NoError(t, put(intent.Path(string(from)+"more"), refs...), "the mark stands")
		require.NoError(t, s.Delete(t.Context(), from, intent.Always()))
		require.NoError(t, s.Delete(t.Context(), intent.Path(string(from)+"more"), intent.Always()))
	}
	item, _, err := fake.Get(t.Context(), "/signpost/deleted")
	require.NoError(t, err)
	require.Nil(t, item, "a deletion is of deletes alone")
}
