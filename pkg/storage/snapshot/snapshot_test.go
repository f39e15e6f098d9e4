package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// newSnapshots is a store with some keys, whose requests are counted.
func newSnapshots(t *testing.T) (store *snapshot.Store, fake *kvtest.Fake, requests *int) {
	fake, requests = kvtest.NewFake(), new(int)
	for _, key := range []string{"a/1", "a/2", "b/1", "c"} {
		_, _, err := fake.Txn(t.Context(), nil, kv.Put(key, []byte("old")))
		require.NoError(t, err)
	}
	fake.Before = func(string, string) error { *requests++; return nil }
	return &snapshot.Store{KV: fake}, fake, requests
}

// read answers what a Range finds, as "key=value".
func read(ctx context.Context, t *testing.T, store kv.KV, r kv.Range) []string {
	items, _, err := store.Range(ctx, r)
	require.NoError(t, err)
	out := []string{}
	for _, item := range items {
		out = append(out, item.Key+"="+string(item.Value))
	}
	return out
}

// TestWhatWasAskedForAheadCostsOneRequest, whichever way it is read then.
func TestWhatWasAskedForAheadCostsOneRequest(t *testing.T) {
	t.Parallel()
	store, _, requests := newSnapshots(t)
	ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c", "none"}, Ahead: []string{"a/", "d/"}})
	require.NoError(t, err)
	require.Equal(t, 1, *requests)
	for _, one := range []struct {
		r    kv.Range
		want []string
	}{
		{kv.Range{Keys: []string{"none", "c", "a/2", "a/3"}}, []string{"c=old", "a/2=old"}},
		{kv.Range{Keys: []string{"c"}, Prefix: "a/"}, []string{"c=old", "a/1=old", "a/2=old"}},
		{kv.Range{Prefix: "a/"}, []string{"a/1=old", "a/2=old"}},
		{kv.Range{Prefix: "a/", After: "a/1"}, []string{"a/2=old"}},
		{kv.Range{Prefix: "a/", Limit: 1, KeysOnly: true}, []string{"a/1="}},
		{kv.Range{Prefix: "a/2"}, []string{"a/2=old"}},
		{kv.Range{Prefix: "a/", Bytes: 2}, []string{"a/1=old"}},
		{kv.Range{Prefix: "a/", Bytes: 3}, []string{"a/1=old", "a/2=old"}},
		{kv.Range{Prefix: "d/sub/"}, []string{}},
	} {
		require.Equal(t, one.want, read(ctx, t, store, one.r))
	}
	item, _, err := store.Get(ctx, "a/3")
	require.NoError(t, err)
	require.Nil(t, item)
	require.Equal(t, 1, *requests)
	require.Empty(t, at.Missed().Keys)

	require.Equal(t, []string{"b/1=old", "c=old"}, read(ctx, t, store, kv.Range{Keys: []string{"b/1", "c"}}))
	require.Equal(t, 2, *requests)
	require.Equal(t, kv.Range{Keys: []string{"b/1"}}, at.Missed())
}

// TestASnapshotIsOfOneRevision, also of what is read later, until its context writes.
func TestASnapshotIsOfOneRevision(t *testing.T) {
	t.Parallel()
	store, fake, requests := newSnapshots(t)
	ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c"}})
	require.NoError(t, err)
	_, _, err = fake.Txn(t.Context(), nil, kv.Put("b/1", []byte("new")), kv.Put("b/2", nil), kv.Put("c", []byte("new")))
	require.NoError(t, err)
	require.Equal(t, []string{"b/1=old"}, read(ctx, t, store, kv.Range{Prefix: "b/"}))
	require.Equal(t, []string{"c=old"}, read(ctx, t, store, kv.Range{Keys: []string{"c"}}))
	require.Equal(t, []string{"b/1=new", "b/2="}, read(snapshot.Now(ctx), t, store, kv.Range{Prefix: "b/"}))
	require.Equal(t, []string{"c=new"}, read(t.Context(), t, store, kv.Range{Keys: []string{"c"}}))
	require.Equal(t, kv.Range{Ahead: []string{"b/"}}, at.Missed())

	done, _, err := store.Txn(ctx, []kv.Compare{kv.Exists("none")}, kv.Put("d", nil))
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, []string{"c=new"}, read(ctx, t, store, kv.Range{Keys: []string{"c"}}), "a write that is refused ends it, too")
	before := *requests
	require.NoError(t, store.ReadAhead(ctx, kv.Range{Keys: []string{"c"}}))
	require.Equal(t, before, *requests, "there is nothing to read ahead for")
}

// TestAWriteBesideASnapshotEndsIt: its caller reads what was written.
func TestAWriteBesideASnapshotEndsIt(t *testing.T) {
	t.Parallel()
	store, _, _ := newSnapshots(t)
	ctx, _, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c"}})
	require.NoError(t, err)
	_, _, err = store.Txn(snapshot.Now(ctx), nil, kv.Put("c", []byte("new")))
	require.NoError(t, err)
	require.Equal(t, []string{"c=new"}, read(ctx, t, store, kv.Range{Keys: []string{"c"}}))
}

// newCosts is a store whose callers ask ahead for what earlier ones have read: costs is how many
// requests it takes to read something then.
func newCosts(t *testing.T) (costs func(reads ...kv.Range) int) {
	store, _, requests := newSnapshots(t)
	kind := snapshot.Kind{Name: "names", Own: "own", Whole: func(prefix string) bool { return prefix == "a/" }}
	return func(reads ...kv.Range) int {
		ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c"}})
		require.NoError(t, err)
		defer at.End()
		learn, err := store.ReadAheadAs(ctx, kind, kv.Range{})
		require.NoError(t, err)
		before := *requests
		for _, r := range reads {
			read(ctx, t, store, r)
		}
		learn()
		return *requests - before
	}
}

func key(name string) kv.Range { return kv.Range{Keys: []string{name}} }

// TestAHintIsForgottenAfterIdleCalls, though there is room for it; until then it is kept.
func TestAHintIsForgottenAfterIdleCalls(t *testing.T) {
	t.Parallel()
	costs := newCosts(t)
	const patience = 16
	require.Equal(t, 2, costs(key("dead"), key("b/1")))
	for range patience {
		require.Equal(t, 0, costs(key("b/1")))
	}
	require.Equal(t, 0, costs(key("dead"), key("b/1")), "it is still asked for ahead")
	for range patience + 1 {
		require.Equal(t, 0, costs(key("b/1")))
	}
	require.Equal(t, 1, costs(key("dead"), key("b/1")), "it was of no use for long")
}

// TestHintsThatAreOfNoUseAreForgotten: the others are asked for ahead, however many
// others there were.
func TestHintsThatAreOfNoUseAreForgotten(t *testing.T) {
	t.Parallel()
	costs := newCosts(t)
	require.Equal(t, 4, costs(key("b/1"), kv.Range{Prefix: "a/"}, key("own/1"), key("dead")))
	require.Equal(t, 2, costs(key("b/1"), kv.Range{Prefix: "a/"}, key("own/1"), key("other")))
	require.Equal(t, 0, costs(key("b/1"), key("a/1"), key("dead")))
	for n := range 200 {
		require.Equal(t, 1, costs(key(fmt.Sprintf("dead/%d", n)), key("b/1")), "b/1 is not pushed out")
	}
	require.Equal(t, 1, costs(key("dead")), "it was of no use for long")
}

// TestALongPrefixIsNotTakenForWhole: beyond what one request answers ahead, the store is asked.
func TestALongPrefixIsNotTakenForWhole(t *testing.T) {
	t.Parallel()
	store, fake, _ := newSnapshots(t)
	for n := range kv.AheadLimit + 10 {
		_, _, err := fake.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("l/%04d", n), nil))
		require.NoError(t, err)
	}
	ctx, _, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c"}, Ahead: []string{"l/"}})
	require.NoError(t, err)
	require.Len(t, read(ctx, t, store, kv.Range{Prefix: "l/"}), kv.AheadLimit+10)
}

// TestASnapshotThatIsNoLongerKept cannot be read on, and says so.
func TestASnapshotThatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	store, fake, _ := newSnapshots(t)
	ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c"}})
	require.NoError(t, err)
	_, _, err = fake.Txn(t.Context(), nil, kv.Put("c", []byte("new")))
	require.NoError(t, err)
	require.NoError(t, fake.Compact(t.Context()))
	_, _, err = store.Get(ctx, "b/1")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.Equal(t, []string{"b/1"}, at.Missed().Keys)
	at.End()
	require.Equal(t, []string{"c=new"}, read(ctx, t, store, kv.Range{Keys: []string{"c"}}))

	fake.Before = func(string, string) error { return errors.New("away") }
	_, _, err = store.Begin(t.Context(), kv.Range{Keys: []string{"c"}})
	require.Error(t, err)
}

// TestEarlierSeesWhatWasSeen, also after a write, and without a request. Keys that were not there are read.
func TestEarlierSeesWhatWasSeen(t *testing.T) {
	t.Parallel()
	store, _, requests := newSnapshots(t)
	ctx, _, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c", "none"}})
	require.NoError(t, err)
	for _, key := range []string{"c", "none", "b/1"} {
		_, _, err = store.Txn(ctx, nil, kv.Put(key, []byte("new")))
		require.NoError(t, err)
	}
	*requests = 0
	gets := 0
	get := func(of context.Context, key, want string, asks int) {
		t.Helper()
		item, _, err := store.Get(of, key)
		require.NoError(t, err)
		require.Equal(t, want, string(item.Value))
		gets += asks
		require.Equal(t, gets, *requests)
	}
	get(snapshot.Earlier(ctx), "c", "old", 0)
	get(snapshot.Earlier(snapshot.Now(ctx)), "c", "old", 0)
	get(snapshot.Earlier(ctx), "none", "new", 1)
	get(snapshot.Earlier(ctx), "b/1", "new", 1)
	get(ctx, "c", "new", 1)
	get(snapshot.Earlier(t.Context()), "c", "new", 1)
}
