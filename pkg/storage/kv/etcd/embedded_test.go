package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd/etcdtest"
)

const patience = time.Minute

func TestMain(m *testing.M) { etcdtest.Main(m) }

func TestEmbeddedServerIsReadyInUnderASecondWhereNobodyElseWorks(t *testing.T) {
	t.Parallel()
	began := time.Now()
	server := start(t, etcd.EmbeddedOptions{})
	require.NoError(t, server.KV().Ping(t.Context()))
	t.Logf("ready after %s", time.Since(began))
	require.Less(t, time.Since(began), patience)
}

func TestEmbeddedServerListensNowhere(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{})
	require.Empty(t, server.ClientURL())
}

func TestEmbeddedServerKeepsItsDataOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	_, revision, err := first.KV().Txn(t.Context(), nil, kv.Put("k", []byte("v")))
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "a second Close changes nothing")
	item, _, err := start(t, etcd.EmbeddedOptions{Dir: dir}).KV().Get(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, revision, item.ModRevision)
}

// TestALockThatIsAboutToGoIsWaitedFor: a child of the process that had the server before has
// its locks until it runs its own program.
func TestALockThatIsAboutToGoIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, start(t, etcd.EmbeddedOptions{Dir: dir}).Close())
	segments, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	lock, err := fileutil.LockFile(segments[0], os.O_WRONLY, fileutil.PrivateFileMode)
	require.NoError(t, err)
	time.AfterFunc(100*time.Millisecond, func() { _ = lock.Close() })
	start(t, etcd.EmbeddedOptions{Dir: dir})
}

func TestDataDirectoryInUseIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, etcd.EmbeddedOptions{Dir: dir})
	_, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: dir})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, dir)
	_, err = etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{})
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

func TestDamagedDataDirectoryIsAnErrorNotAPanic(t *testing.T) {
	t.Parallel()
	for _, files := range []string{"wal/*.wal", "snap/db"} {
		t.Run(files, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			require.NoError(t, server.Close())
			found, err := filepath.Glob(filepath.Join(dir, "member", files))
			require.NoError(t, err)
			require.NotEmpty(t, found)
			require.NoError(t, os.WriteFile(found[0], []byte(strings.Repeat("damaged", 1000)), 0o600))
			_, err = etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
			require.ErrorContains(t, err, dir)
			require.ErrorContains(t, err, "cannot be used")
		})
	}
}

func TestLeaseOfAnEarlierLifeIsRevoked(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	store := etcd.New(server.Client)
	lease, err := store.Lease(t.Context(), 10)
	require.NoError(t, err)
	_, _, err = store.Txn(t.Context(), nil, kv.Op{Key: "mine", Lease: lease.ID()}, kv.Put("free", nil))
	require.NoError(t, err)
	server.Kill(t)
	server.Restart(t)
	items, _, err := store.Range(t.Context(), kv.Range{})
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, "free", items[0].Key)
	select {
	case <-lease.Lost():
	case <-time.After(patience):
		require.FailNow(t, "the holder is not told")
	}
}

func TestLeaseIsLostWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	lease, err := etcd.New(server.Client).Lease(t.Context(), 2)
	require.NoError(t, err)
	server.Kill(t)
	select {
	case <-lease.Lost():
	case <-time.After(patience):
		require.FailNow(t, "the holder is not told")
	}
}

func TestWatchSurvivesServerRestart(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	store := etcd.New(server.Client)
	_, revision, err := store.Txn(t.Context(), nil, kv.Put("w/0", nil))
	require.NoError(t, err)
	batches := store.Watch(t.Context(), "w/", revision)
	for n := range 3 {
		_, _, err := store.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("w/%d", n+1), nil))
		require.NoError(t, err)
		server.Kill(t)
		server.Restart(t)
	}
	require.Equal(t, []string{"w/0", "w/1", "w/2", "w/3"}, readKeys(t, batches, 4))
}

// readKeys reads the keys of n events.
func readKeys(t *testing.T, batches <-chan kv.Batch, n int) []string {
	t.Helper()
	var keys []string
	for len(keys) < n {
		select {
		case batch := <-batches:
			require.False(t, batch.Compacted)
			for _, event := range batch.Events {
				keys = append(keys, event.Key)
			}
		case <-time.After(patience):
			require.FailNow(t, "an event is missing", "after %v", keys)
		}
	}
	return keys
}

func TestAcknowledgedWriteSurvivesKill9(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	store := etcd.New(server.Client)
	var written atomic.Int64
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			n := written.Load()
			if _, _, err := store.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("k/%d", n), []byte("v"))); err != nil {
				return
			}
			written.Add(1)
		}
	}()
	require.Eventually(t, func() bool { return written.Load() >= 20 }, patience, time.Millisecond)
	server.Kill(t)
	<-stopped
	n := int(written.Load())
	server.Restart(t)
	items, _, err := store.Range(t.Context(), kv.Range{Prefix: "k/"})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(items), n)
	require.LessOrEqual(t, len(items), n+1, "at most the one whose answer was lost besides")
}

func TestServerAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	store, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{"http://127.0.0.1:1"}})
	require.NoError(t, err, "Dial does not wait")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.Equal(t, intent.Unavailable, intent.CodeOf(store.Ping(ctx)))
	_, err = store.Lease(ctx, 5)
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.NoError(t, store.Close())
}

// TestAServerThatHangsIsGivenUp: long before the caller, who has half a minute
// for a request of many.
func TestAServerThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer hangs.Close()
	store, err := etcd.Dial(etcd.DialOptions{Endpoints: []string{"http://" + hangs.Addr().String()}})
	require.NoError(t, err)
	defer store.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	began := time.Now()
	_, _, err = store.Range(ctx, kv.Range{Prefix: "/"})
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.Less(t, time.Since(began), 20*time.Second)
}

// TestHistoryIsCompacted: by the server itself, so that it does not fill up.
func TestHistoryIsCompacted(t *testing.T) {
	t.Parallel()
	store := start(t, etcd.EmbeddedOptions{Keep: time.Second}).KV()
	_, first, err := store.Txn(t.Context(), nil, kv.Put("k", []byte("1")))
	require.NoError(t, err)
	_, _, err = store.Txn(t.Context(), nil, kv.Put("k", []byte("2")))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, _, err := store.Range(t.Context(), kv.Range{Prefix: "k", Revision: first})
		return errors.Is(err, kv.ErrCompacted)
	}, patience, 10*time.Millisecond)
}

func TestSpaceComesBack(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true, Maintain: 10 * time.Millisecond})
	admin, err := clientv3.NewFromURL(server.ClientURL())
	require.NoError(t, err)
	defer admin.Close()
	value := make([]byte, 1<<20)
	var last int64
	for range 24 {
		_, last, err = server.KV().Txn(t.Context(), nil, kv.Put("k", value))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return server.Size().Allocated > 20<<20 }, patience, 10*time.Millisecond)
	_, err = admin.Compact(t.Context(), last, clientv3.WithCompactPhysical())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return server.Size().Allocated < 8<<20 }, patience, 10*time.Millisecond)
	item, _, err := server.KV().Get(t.Context(), "k")
	require.NoError(t, err)
	require.Len(t, item.Value, 1<<20)
}

func TestFullDatabaseRefusesWritesAndRecovers(t *testing.T) {
	t.Parallel()
	server := start(t, etcd.EmbeddedOptions{ListenClients: true, Quota: 24 << 20, Maintain: 10 * time.Millisecond})
	admin, err := clientv3.NewFromURL(server.ClientURL())
	require.NoError(t, err)
	defer admin.Close()
	value := make([]byte, 1<<20)
	var last int64
	for err == nil {
		var revision int64
		if _, revision, err = server.KV().Txn(t.Context(), nil, kv.Put("k", value)); err == nil {
			last = revision
		}
	}
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	_, err = admin.Compact(t.Context(), last, clientv3.WithCompactPhysical())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, _, err := server.KV().Txn(t.Context(), nil, kv.Put("k", []byte("small")))
		return err == nil
	}, patience, 10*time.Millisecond)
}
