package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// newView is a store, and a view of the keys a/1, a/2 and c, and of d, which there is not.
func newView(t *testing.T) (*snapshot.Store, *int, *snapshot.View) {
	store, fake, requests := newSnapshots(t)
	ctx, at, err := store.Begin(t.Context(), kv.Range{Keys: []string{"c", "d"}, Ahead: []string{"a/"}})
	require.NoError(t, err)
	view := snapshot.ViewOf(ctx)
	at.End()
	require.Nil(t, snapshot.ViewOf(ctx), "it has ended")
	_, _, err = fake.Txn(t.Context(), nil, kv.Put("a/1", []byte("new")), kv.Put("b/1", []byte("new")), kv.Put("c", []byte("new")), kv.Put("d", []byte("new")))
	require.NoError(t, err)
	*requests = 0
	return store, requests, view
}

// TestAViewIsReadByMany at its time, without a request, and so is what is read beside it.
func TestAViewIsReadByMany(t *testing.T) {
	t.Parallel()
	store, requests, view := newView(t)
	for range 2 {
		ctx, at := store.BeginAt(t.Context(), view)
		inner, _, err := store.Begin(ctx, kv.Range{Keys: []string{"c", "d"}, Ahead: []string{"a/", "a/1"}})
		require.NoError(t, err)
		require.Equal(t, []string{"c=old", "a/1=old", "a/2=old"}, read(inner, t, store, kv.Range{Keys: []string{"c", "d"}, Prefix: "a/"}))
		require.Equal(t, []string{"a/2=old"}, read(inner, t, store, kv.Range{Prefix: "a/", After: "a/1"}))
		require.Equal(t, []string{"a/1="}, read(inner, t, store, kv.Range{Prefix: "a/", Limit: 1, KeysOnly: true}))
		require.Zero(t, *requests)
		require.Equal(t, []string{"b/1=old"}, read(inner, t, store, kv.Range{Prefix: "b/"}))
		require.Equal(t, 1, *requests)
		require.Equal(t, []string{"a/1=new", "a/2=old"}, read(snapshot.Now(inner), t, store, kv.Range{Prefix: "a/"}))
		require.False(t, at.Ended())
		*requests = 0
	}
}

// TestAWriteEndsAView for its caller, also for what it begins afterwards, and for nobody else.
func TestAWriteEndsAView(t *testing.T) {
	t.Parallel()
	store, _, view := newView(t)
	ctx, at := store.BeginAt(t.Context(), view)
	other, _ := store.BeginAt(t.Context(), view)
	inner, _, err := store.Begin(ctx, kv.Range{})
	require.NoError(t, err)
	_, _, err = store.Txn(inner, []kv.Compare{kv.Exists("none")}, kv.Put("e", nil))
	require.NoError(t, err)
	require.True(t, at.Ended())
	again, _, err := store.Begin(ctx, kv.Range{Keys: []string{"c"}})
	require.NoError(t, err)
	require.Equal(t, []string{"c=new"}, read(again, t, store, kv.Range{Keys: []string{"c"}}))
	require.Equal(t, []string{"c=old"}, read(other, t, store, kv.Range{Keys: []string{"c"}}))
	now, _, err := store.Begin(snapshot.Now(other), kv.Range{})
	require.NoError(t, err)
	require.Equal(t, []string{"c=new"}, read(now, t, store, kv.Range{Keys: []string{"c"}}), "who reads what is now begins now")
}

// TestAHintIsPartOfAView, so that the steps that read the view do not ask for it.
func TestAHintIsPartOfAView(t *testing.T) {
	t.Parallel()
	store, _, requests := newSnapshots(t)
	kind := snapshot.Kind{Name: "names", Own: "own", Whole: func(string) bool { return true }}
	learn := func(ctx *snapshot.View) {
		within, at := store.BeginAt(t.Context(), ctx)
		defer at.End()
		learn, err := store.ReadAheadAs(within, kind, kv.Range{Keys: []string{"c"}})
		require.NoError(t, err)
		read(within, t, store, key("b/1"))
		learn()
	}
	learn(nil)
	ahead := store.Hinted(kind.Name)
	ahead.Keys = append(ahead.Keys, "c")
	ctx, _, err := store.Begin(t.Context(), ahead)
	require.NoError(t, err)
	*requests = 0
	learn(snapshot.ViewOf(ctx))
	require.Zero(t, *requests)
}
