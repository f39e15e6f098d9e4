package history_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/storetest"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// TestTheCostOfAnEventDoesNotGrow with the events of a project: those that stay are not
// read again, and the others are removed many at once.
func TestTheCostOfAnEventDoesNotGrow(t *testing.T) {
	const events = 3000
	w := newWorld(t)
	w.Count = 500
	store := &storetest.Counted{Store: w.documents}
	w.Documents = store
	doc := w.write(shop, `{}`)
	writes := 0
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			writes++
		}
		return nil
	}
	told := func(by *world) {
		by.now = by.now.Add(1)
		by.Wrote(by.anna("r1"), nil, &doc)
	}
	for range events {
		told(w)
	}
	w.fake.Before = nil
	require.LessOrEqual(t, len(w.all(shop, 200)), 550)
	require.Less(t, store.Listed, 3*events+1000, "documents read")
	require.Less(t, writes, events*11/10, "transactions")
}

// TestReplicasBoundOneHistory: each sees what the other has written.
func TestReplicasBoundOneHistory(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	other.documents, other.Documents = w.documents, w.documents
	w.Count, other.Count = 25, 25
	doc := w.write(shop, `{}`)
	for n := range 300 {
		by := w
		if n%3 == 0 {
			by = other
		}
		w.now = w.now.Add(1)
		other.now = w.now
		by.Wrote(by.anna(strconv.Itoa(n)), nil, &doc)
		require.LessOrEqual(t, len(w.all(shop, 100)), 25+2*2)
		require.GreaterOrEqual(t, len(w.all(shop, 100)), min(n, 25))
	}
	require.Equal(t, "299", w.all(shop, 100)[0].RequestID)
}

// TestAnEventCostsItsWrite if its request has read the project at one time with other things.
func TestAnEventCostsItsWrite(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{}`)
	store := &snapshot.Store{KV: w.fake}
	w.Documents = etcd.New(store)
	ctx, at, err := store.Begin(t.Context(), kv.Range{})
	require.NoError(t, err)
	_, err = w.Documents.Get(ctx, shop)
	require.NoError(t, err)
	at.End()
	events, requests := len(w.all(shop, 10)), 0
	w.fake.Before = func(string, string) error { requests++; return nil }
	w.Told(ctx, prod, intent.Event{Time: w.now})
	w.fake.Before = nil
	require.Equal(t, 1, requests)
	require.Len(t, w.all(shop, 10), events+1)
}
