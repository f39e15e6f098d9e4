package kvtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

func next(t *testing.T, batches <-chan kv.Batch) kv.Batch {
	t.Helper()
	select {
	case batch, ok := <-batches:
		require.True(t, ok, "the watch has ended")
		return batch
	case <-time.After(patience):
		require.FailNow(t, "no batch came")
		return kv.Batch{}
	}
}

// collect reads events until there are n.
func collect(t *testing.T, batches <-chan kv.Batch, n int) []string {
	t.Helper()
	var events []string
	for len(events) < n {
		batch := next(t, batches)
		require.False(t, batch.Compacted)
		last := int64(0)
		for _, event := range batch.Events {
			require.GreaterOrEqual(t, event.ModRevision, last)
			last = event.ModRevision
			text := event.Key + "=" + string(event.Value)
			if event.Deleted {
				text = event.Key + " gone"
			}
			events = append(events, text)
		}
		require.Equal(t, last, batch.Revision)
	}
	return events
}

func watchDelivers(t *testing.T, s Subject) {
	from := put(t, s, "other", "x") + 1
	batches := s.Watch(t.Context(), "p/", from)
	var want []string
	for i := range 50 {
		put(t, s, "p/k", fmt.Sprint(i))
		put(t, s, "q/k", fmt.Sprint(i))
		want = append(want, fmt.Sprintf("p/k=%d", i))
	}
	_, _, err := s.Txn(t.Context(), nil, kv.Delete("p/k"))
	require.NoError(t, err)
	require.Equal(t, append(want, "p/k gone"), collect(t, batches, 51))
}

func watchKeepsTogether(t *testing.T, s Subject) {
	from := put(t, s, "other", "x") + 1
	batches := s.Watch(t.Context(), "p/", from)
	var ops []kv.Op
	for i := range 100 {
		ops = append(ops, kv.Put(fmt.Sprintf("p/%d", i), make([]byte, 10<<10)))
	}
	_, revision, err := s.Txn(t.Context(), nil, ops...)
	require.NoError(t, err)
	batch := next(t, batches)
	require.Len(t, batch.Events, 100)
	require.Equal(t, revision, batch.Revision)
}

func watchFromThePast(t *testing.T, s Subject) {
	put(t, s, "p/a", "1")
	from := put(t, s, "p/b", "2")
	put(t, s, "p/c", "3")
	require.Equal(t, []string{"p/b=2", "p/c=3"}, collect(t, s.Watch(t.Context(), "p/", from), 2), "inclusive")
}

func watchEnds(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	batches := s.Watch(ctx, "p/", 0)
	cancel()
	select {
	case _, ok := <-batches:
		require.False(t, ok)
	case <-time.After(patience):
		require.FailNow(t, "the channel stays open")
	}
}

func watchTellsOfCompaction(t *testing.T, s Subject) {
	from := put(t, s, "p/a", "1")
	put(t, s, "p/a", "2")
	put(t, s, "p/a", "3")
	require.NoError(t, s.Compact(t.Context()))
	batches := s.Watch(t.Context(), "p/", from)
	batch := next(t, batches)
	require.True(t, batch.Compacted)
	require.Empty(t, batch.Events)
	put(t, s, "p/a", "4")
	require.Equal(t, []string{"p/a=4"}, collect(t, batches, 1))
}

// followTells has another watch that waits for a later revision, which keeps nobody from being told.
func followTells(t *testing.T, s Subject) {
	from := put(t, s, "p/a", "1") + 1
	_ = s.Watch(t.Context(), "other/", from+1000)
	batches := s.Follow(t.Context(), "p/", from, 10*time.Millisecond)
	beside := put(t, s, "q/a", "1")
	for {
		batch := next(t, batches)
		require.Empty(t, batch.Events)
		if batch.Revision == beside { // nothing of its own has changed
			break
		}
	}
	for n := range 20 {
		want, told := put(t, s, "p/a", fmt.Sprint(n)), false
		for came := false; !told; {
			batch := next(t, batches)
			came = came || len(batch.Events) > 0
			told = len(batch.Events) == 0 && batch.Revision >= want
			require.True(t, came || !told, "it has not come so far yet")
		}
	}
}

func leasedKeyGoes(t *testing.T, s Subject) {
	lease, err := s.Lease(t.Context(), 5)
	require.NoError(t, err)
	_, revision, err := s.Txn(t.Context(), nil, kv.Op{Key: "l/mine", Value: []byte("v"), Lease: lease.ID()})
	require.NoError(t, err)
	put(t, s, "l/free", "v")
	batches := s.Watch(t.Context(), "l/mine", revision+1)
	require.NoError(t, lease.Release(t.Context()))
	require.Equal(t, []string{"l/mine gone"}, collect(t, batches, 1))
	require.Equal(t, []string{"l/free"}, keys(t, s, kv.Range{Prefix: "l/"}))
	lost(t, lease)
}

func leaseIsLostWithItsContext(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	lease, err := s.Lease(ctx, 5)
	require.NoError(t, err)
	select {
	case <-lease.Lost():
		require.FailNow(t, "lost too early")
	default:
	}
	cancel()
	lost(t, lease)
}

func lost(t *testing.T, lease kv.Lease) {
	t.Helper()
	select {
	case <-lease.Lost():
	case <-time.After(patience):
		require.FailNow(t, "the lease is not lost")
	}
}

func endedLeaseIsAConflict(t *testing.T, s Subject) {
	lease, err := s.Lease(t.Context(), 5)
	require.NoError(t, err)
	require.NoError(t, lease.Release(t.Context()))
	_, _, err = s.Txn(t.Context(), nil, kv.Op{Key: "k", Lease: lease.ID()})
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
	require.Nil(t, get(t, s, "k"))
}
