package index

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const hub, berlin = "edge+hub", "edge+berlin"

// TestEachChangeIsToldOnce, by whoever finds it first.
func TestEachChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	contexts := appcontext.NewStore(kvtest.NewFake(), time.Now)
	commit := func(clusters ...string) appcontext.Pointer {
		was, err := contexts.Current(t.Context(), "dig")
		require.NoError(t, err)
		var objects []bundle.Object
		for _, cluster := range clusters {
			o, err := bundle.Parse(cluster, "web", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`))
			require.NoError(t, err)
			objects = append(objects, o)
		}
		c := appcontext.Context{ID: appcontext.NewID()}
		c.Objects, err = bundle.Collect(objects)
		require.NoError(t, err)
		_, err = contexts.Commit(t.Context(), was, c)
		require.NoError(t, err)
		now, err := contexts.Current(t.Context(), "dig")
		require.NoError(t, err)
		return now
	}
	var told [][]string
	x := New(contexts, func(clusters []string) {
		if len(clusters) > 0 {
			told = append(told, clusters)
		}
	})
	p := commit(hub, berlin)
	_, err := x.Read(t.Context())
	require.NoError(t, err)
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{p}})
	assert.Equal(t, [][]string{{berlin, hub}}, told)
	p = commit(hub)
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{p}})
	_, err = x.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [][]string{{berlin, hub}, {berlin, hub}}, told)
}

// TestAnOlderReadTakesNothingBack: the watch may tell of a change while all pointers are read.
func TestAnOlderReadTakesNothingBack(t *testing.T) {
	t.Parallel()
	contexts := appcontext.NewStore(kvtest.NewFake(), time.Now)
	commit := func(owner appcontext.Owner) appcontext.Pointer {
		was, err := contexts.Current(t.Context(), owner)
		require.NoError(t, err)
		o, err := bundle.Parse(hub, "web", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`))
		require.NoError(t, err)
		_, err = contexts.Commit(t.Context(), was, appcontext.Context{ID: appcontext.NewID(), Objects: bundle.Bundle{o}})
		require.NoError(t, err)
		now, err := contexts.Current(t.Context(), owner)
		require.NoError(t, err)
		return now
	}
	commit("old")
	read, revision, err := contexts.Pointers(t.Context())
	require.NoError(t, err)
	x := New(contexts, func([]string) {})
	changed, made := commit("old"), commit("new")
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{changed, made}})
	require.Empty(t, x.replace(read, revision))
	assert.Equal(t, changed.ContextID, x.owners["old"].ContextID)
	assert.Equal(t, made.ContextID, x.owners["new"].ContextID)
}

// asked are contexts that count how often all pointers are read.
type asked struct {
	*appcontext.Store
	reads int
}

func (a *asked) Pointers(ctx context.Context) ([]appcontext.Pointer, int64, error) {
	a.reads++
	return a.Store.Pointers(ctx)
}

// TestARefreshReadsOneKey, however many owners there are, as long as the watch tells of them.
// It waits for what is written before it, and reads all pointers itself if the watch
// is late, or if a pointer could not be read.
func TestARefreshReadsOneKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := kvtest.NewFake()
		contexts := &asked{Store: appcontext.NewStore(store, time.Now)}
		commit := func(owner appcontext.Owner) {
			was, err := contexts.Current(t.Context(), owner)
			require.NoError(t, err)
			_, err = contexts.Commit(t.Context(), was, appcontext.Context{ID: appcontext.NewID(), Services: map[string][]string{hub: {"shop/web"}}})
			require.NoError(t, err)
		}
		commit("first")
		x := New(contexts, func([]string) {})
		revision, err := x.Read(t.Context())
		require.NoError(t, err)
		changes := contexts.Watch(t.Context(), revision+1)
		refresh := func() error { _, err := x.Refresh(t.Context()); return err }

		commit("second")
		go func() { x.Update(<-changes) }()
		require.NoError(t, refresh())
		require.Contains(t, x.owners, appcontext.Owner("second"))
		require.NoError(t, refresh())
		require.Equal(t, 1, contexts.reads, "the watch told of all")

		commit("third")
		for range 20 { // one that reads all the same does so by chance
			ended, cancel := context.WithTimeout(t.Context(), patience/2)
			_, err = x.Refresh(ended)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		require.Equal(t, 1, contexts.reads, "one who is told to end reads nothing")
		require.NoError(t, refresh())
		require.Contains(t, x.owners, appcontext.Owner("third"))
		require.Equal(t, 2, contexts.reads, "the watch was late")

		x.Update(<-changes)
		_, _, err = store.Txn(t.Context(), nil, kv.Put("/signpost/current/torn", []byte("{")))
		require.NoError(t, err)
		x.Update(<-changes)
		require.Error(t, refresh(), "nobody knows what it names")
		require.Empty(t, x.replace(nil, revision), "an older read, come late")
		require.Error(t, refresh())
		_, _, err = store.Txn(t.Context(), nil, kv.Delete("/signpost/current/torn"))
		require.NoError(t, err)
		require.NoError(t, refresh())
		require.NoError(t, refresh())
		require.Equal(t, 5, contexts.reads)
	})
}

// TestAClusterThatAContextGainsConcernsNoOther: a group on n clusters gains them one by one, so that
// each of them would be woken n times.
func TestAClusterThatAContextGainsConcernsNoOther(t *testing.T) {
	t.Parallel()
	contexts := appcontext.NewStore(kvtest.NewFake(), time.Now)
	object := func(cluster string) bundle.Object {
		o, err := bundle.Parse(cluster, "web", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}`))
		require.NoError(t, err)
		return o
	}
	services := map[string][]string{hub: {"shop/web"}, berlin: {"shop/web"}}
	p, err := contexts.Commit(t.Context(), appcontext.Pointer{Owner: "dig"}, appcontext.Context{ID: appcontext.NewID(), Services: services, Objects: bundle.Bundle{object(hub)}})
	require.NoError(t, err)
	var told [][]string
	x := New(contexts, func(clusters []string) { told = append(told, clusters) })
	revision, err := x.Read(t.Context())
	require.NoError(t, err)
	changes := contexts.Watch(t.Context(), revision+1)

	o := object(berlin)
	p, err = contexts.Rewrite(t.Context(), p, "web", berlin, []bundle.Change{{Action: bundle.Create, ID: o.ID, New: o.JSON}})
	require.NoError(t, err)
	x.Update(<-changes)
	_, err = contexts.Suspend(t.Context(), p, true)
	require.NoError(t, err)
	x.Update(<-changes)
	require.Equal(t, [][]string{{berlin, hub}, {berlin}, {berlin, hub}}, told, "read, gained and suspended")
	require.True(t, x.Suspended([]string{"dig"}))

	p, err = contexts.Current(t.Context(), "dig")
	require.NoError(t, err)
	change := bundle.Change{Action: bundle.Update, ID: o.ID, Old: o.JSON, New: object(berlin).JSON}
	_, err = contexts.Rewrite(t.Context(), p, "web", berlin, []bundle.Change{change})
	require.NoError(t, err)
	_, err = x.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{berlin, hub}, told[3], "nobody knows what a touch was about that was read, and not told")
}

// TestATouchIsToldBesideALaterPointer: a watch that catches up has many changes in one batch.
func TestATouchIsToldBesideALaterPointer(t *testing.T) {
	t.Parallel()
	contexts := appcontext.NewStore(kvtest.NewFake(), time.Now)
	object := func(cluster, value string) bundle.Object {
		o, err := bundle.Parse(cluster, "web", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"},"data":{"a":%q}}`, value))
		require.NoError(t, err)
		return o
	}
	o, changed, gained := object(hub, "1"), object(hub, "2"), object(berlin, "1")
	p, err := contexts.Commit(t.Context(), appcontext.Pointer{Owner: "dig"}, appcontext.Context{ID: appcontext.NewID(), Objects: bundle.Bundle{o}})
	require.NoError(t, err)
	var told []string
	x := New(contexts, func(clusters []string) { told = clusters })
	revision, err := x.Read(t.Context())
	require.NoError(t, err)
	changes := contexts.Watch(t.Context(), revision+1)
	p, err = contexts.Rewrite(t.Context(), p, "web", hub, []bundle.Change{{Action: bundle.Update, ID: o.ID, Old: o.JSON, New: changed.JSON}})
	require.NoError(t, err)
	_, err = contexts.Rewrite(t.Context(), p, "web", berlin, []bundle.Change{{Action: bundle.Create, ID: gained.ID, New: gained.JSON}})
	require.NoError(t, err)
	first, second := <-changes, <-changes
	x.Update(appcontext.Change{
		Pointers: slices.Concat(first.Pointers, second.Pointers),
		Touches:  slices.Concat(first.Touches, second.Touches),
		Revision: second.Revision,
	})
	require.Equal(t, []string{berlin, hub}, told)
}

// TestAnOwnerThatRetiresIsForgotten: names come and go, and nothing of them stays in memory.
func TestAnOwnerThatRetiresIsForgotten(t *testing.T) {
	t.Parallel()
	x := New(nil, func([]string) {})
	p := appcontext.Pointer{Owner: "name", ContextID: "1", Seq: 1, Clusters: map[string][]string{hub: {"name"}}}
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{p}, Revision: 1})
	require.True(t, x.Serves(hub))
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{{Owner: "name", Seq: 2}}, Revision: 2})
	require.NotEmpty(t, x.owners, "it may come back")
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{{Owner: "name"}}, Revision: 3})
	require.Empty(t, x.owners)
	require.False(t, x.Serves(hub))
}

func TestAnObjectIsSuspendedWithAllOfItsOwners(t *testing.T) {
	t.Parallel()
	x := New(nil, func([]string) {})
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{{Owner: "dig", ContextID: "1", Suspended: true}, {Owner: "other", ContextID: "2"}}})
	for _, c := range []struct {
		reason string
		owners []string
		want   bool
	}{
		{"all of its owners are", []string{"dig"}, true},
		{"one of its owners is not", []string{"dig", "other"}, false},
		{"nobody knows whose it is", nil, false},
		{"its owner has nothing any more", []string{"gone"}, false},
	} {
		assert.Equal(t, c.want, x.Suspended(c.owners), c.reason)
	}
}
