package quota

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// world is a store with quotas over a store of its own.
type world struct {
	*Store
	t       *testing.T
	kv      *kvtest.Fake
	counted atomic.Int64 // how often all documents of a project were counted
}

func newWorld(t *testing.T, documents int, size int64) *world {
	w := &world{t: t, kv: kvtest.NewFake()}
	w.Store = w.open(documents, size)
	return w
}

// open is the store as another process has it.
func (w *world) open(documents int, size int64) *Store {
	over := etcd.New(w.kv)
	count := func(ctx context.Context, project intent.Path) (int, int64, error) {
		w.counted.Add(1)
		return over.Usage(ctx, project)
	}
	return New(over, count, w.kv, intent.Quotas{Documents: &documents, Bytes: &size})
}

// body is a document of so many bytes.
func body(size int) []byte {
	return fmt.Appendf(nil, `{"x":"%s"}`, bytes.Repeat([]byte("x"), size-8))
}

func (w *world) put(path intent.Path, size int) error {
	_, err := w.Put(w.t.Context(), intent.Write{Path: path, Body: body(size)})
	return err
}

func (w *world) has(documents int, size int64) {
	w.t.Helper()
	all, err := w.Usages(w.t.Context())
	require.NoError(w.t, err)
	require.Equal(w.t, Usage{documents, size}, all["shop"])
	_, _, err = etcd.New(w.kv).Usage(w.t.Context(), "projects/shop")
	require.NoError(w.t, err)
}

func TestAStoreWithQuotasIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Options{New: func(*testing.T) storetest.Data {
		fake := kvtest.NewFake()
		return storetest.Data{Open: func(*testing.T) intent.Store {
			over := etcd.New(fake)
			return New(over, over.Usage, fake, intent.Quotas{})
		}}
	}})
}

func TestNothingIsStoredPastAQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, 1000)
	require.NoError(t, w.put("projects/shop", 100))
	require.NoError(t, w.put("projects/shop/logical-clouds/a", 300))
	w.has(2, 400)
	err := w.put("projects/shop/logical-clouds/b", 601)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, `would have 1001, and may have 1000`)
	require.ErrorContains(t, err, "spec.quotas.bytes")
	require.NoError(t, w.put("projects/shop/logical-clouds/b", 600))
	require.ErrorContains(t, w.put("projects/shop/logical-clouds/c", 8), "spec.quotas.documents")
	require.ErrorContains(t, w.put("projects/shop/logical-clouds/a", 301), "spec.quotas.bytes")
	require.NoError(t, w.put("projects/shop/logical-clouds/a", 200), "what gets smaller is written")
	w.has(3, 900)
	require.NoError(t, w.put("projects/shopping", 1000), "what another project has is its own")
	require.NoError(t, w.put("lifecycle/projects/shop", 1000), "what is Signpost's own is not the project's")

	require.NoError(t, w.Delete(t.Context(), "projects/shop/logical-clouds/b", intent.Always()))
	w.has(2, 300)
	sealed, err := json.Marshal(map[string]string{"path": "projects/shop/dns-update-records/lab", "sealed": string(body(600))})
	require.NoError(t, err)
	_, err = w.Put(t.Context(), intent.Write{Path: "secrets/one", Body: sealed})
	require.NoError(t, err)
	w.has(2, 300+int64(len(sealed)))
	_, err = w.Put(t.Context(), intent.Write{Path: "secrets/two", Body: sealed})
	require.ErrorContains(t, err, "spec.quotas.bytes")
	require.NoError(t, w.Delete(t.Context(), "secrets/one", intent.Always()))
	w.has(2, 300)
	require.EqualValues(t, 2, w.counted.Load(), "all documents are counted once for each project")
}

func TestAWriteThatFailsCountsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, 1000)
	require.NoError(t, w.put("projects/shop", 100))
	for reason, write := range map[string]intent.Write{
		"a missing parent": {Path: "projects/shop/logical-clouds/a", Body: body(100), Refs: []intent.Path{"projects/none"}},
		"it exists":        {Path: "projects/shop", Body: body(200), Condition: intent.IfAbsent()},
		"another revision": {Path: "projects/shop", Body: body(200), Condition: intent.IfRevision(7)},
	} {
		_, err := w.Put(t.Context(), write)
		require.Error(t, err, reason)
		w.has(1, 100)
	}
	require.Error(t, w.Delete(t.Context(), "projects/shop", intent.IfRevision(7)))
	w.has(1, 100)
}

// TestOfManyWritersAtOnceNoneGoesBeyond, in two processes, and what was replaced and
// deleted meanwhile is counted as it is.
func TestOfManyWritersAtOnceNoneGoesBeyond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000, 2000)
	stores := []*Store{w.Store, w.open(1000, 2000)}
	require.NoError(t, w.put("projects/shop", 100))
	var writers sync.WaitGroup
	for n := range 60 {
		writers.Go(func() {
			s, path := stores[n%2], intent.Join("projects/shop/logical-clouds", fmt.Sprint(n%20))
			_, _ = s.Put(t.Context(), intent.Write{Path: path, Body: body(100 + n)})
			if n%3 == 0 {
				_ = s.Delete(t.Context(), path, intent.Always())
			}
		})
	}
	writers.Wait()
	documents, size, err := etcd.New(w.kv).Usage(t.Context(), "projects/shop")
	require.NoError(t, err)
	require.LessOrEqual(t, size, int64(2000))
	w.has(documents, size)
}

func TestWhatCrashesLeftIsCountedAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 1000)
		require.NoError(t, w.put("projects/shop", 100))
		require.NoError(t, w.counts.add(t.Context(), "projects/shop", Usage{1, 900}, intent.Quotas{}))
		require.Error(t, w.put("projects/shop/logical-clouds/a", 100))
		require.NoError(t, w.Recount(t.Context()))
		w.has(1, 100)
		require.NoError(t, w.put("projects/shop/logical-clouds/a", 100))
		began := time.Now()
		require.NoError(t, w.Recount(t.Context()))
		require.Zero(t, time.Since(began), "nothing is wrong")
	})
}

// TestARecountForgetsNoWriteUnderWay, which has counted and stores its document while others are counted, or has yet
// to count.
func TestARecountForgetsNoWriteUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 1000)
		require.NoError(t, w.put("projects/shop", 100))
		recount := func(meanwhile func()) {
			require.NoError(t, w.counts.add(t.Context(), "projects/shop", Usage{1, 200}, intent.Quotas{}))
			done := make(chan error)
			go func() { done <- w.Recount(t.Context()) }()
			time.Sleep(underWay / 2)
			meanwhile()
			require.NoError(t, <-done)
		}
		recount(func() {
			_, err := etcd.New(w.kv).Put(t.Context(), intent.Write{Path: "projects/shop/logical-clouds/a", Body: body(200)})
			require.NoError(t, err)
		})
		w.has(2, 300)
		recount(func() { require.NoError(t, w.put("projects/shop/logical-clouds/b", 100)) })
		w.has(4, 600)
		require.NoError(t, w.Recount(t.Context()))
		w.has(3, 400)
	})
}

func TestAProjectsOwnQuotaCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, 1000)
	_, err := w.Put(t.Context(), intent.Write{Path: "projects/shop", Body: []byte(`{"metadata":{"name":"shop"},"spec":{"quotas":{"documents":2}}}`)})
	require.NoError(t, err)
	require.NoError(t, w.put("projects/shop/logical-clouds/a", 100))
	require.ErrorContains(t, w.put("projects/shop/logical-clouds/b", 100), `has 2 documents, and may have 2`)
}

// TestWhatIsReplacedTakesRoomToo, until its history goes.
func TestWhatIsReplacedTakesRoomToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates("writes", time.Now)
		quota := int64(2 * intent.MaxBody)
		require.NoError(t, r.take("projects/shop", nil, intent.MaxBody))
		for range 2 {
			require.NoError(t, r.take("projects/shop", &quota, intent.MaxBody))
		}
		err := r.take("projects/shop", &quota, intent.MaxBody)
		require.Equal(t, intent.TooMany, intent.CodeOf(err))
		require.NoError(t, r.take("projects/other", &quota, intent.MaxBody))
		time.Sleep(historyKept * 6 / 10)
		require.NoError(t, r.take("projects/shop", &quota, intent.MaxBody))
		require.Error(t, r.take("projects/shop", &quota, intent.MaxBody))
		larger := 2 * quota
		time.Sleep(historyKept / 2)
		require.NoError(t, r.take("projects/shop", &larger, intent.MaxBody))
	})
}

// TestWhatIsReleasedTakesRoomToo, beside documents: a release of more than all that a
// project may have can be done, and the next one waits.
func TestWhatIsReleasedTakesRoomToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota = 2 * intent.MaxBody
		w := newWorld(t, 10, quota)
		require.NoError(t, w.put("projects/shop", 100))
		release := func(bytes int) error { return w.Release(t.Context(), "projects/shop", bytes) }
		require.NoError(t, release(quota/2))
		require.NoError(t, release(quota/2))
		err := release(quota / 2)
		require.Equal(t, intent.TooMany, intent.CodeOf(err))
		require.ErrorContains(t, err, "spec.quotas.bytes")
		var refused *intent.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, historyKept/2, refused.RetryAfter)
		require.NoError(t, w.put("projects/shop/logical-clouds/a", intent.MaxBody), "documents are written still")
		require.NoError(t, w.Release(t.Context(), "projects/other", quota))
		time.Sleep(refused.RetryAfter)
		require.NoError(t, release(quota/2))
		time.Sleep(historyKept)
		require.NoError(t, release(10*quota))
		require.Error(t, release(1000))
	})
}
