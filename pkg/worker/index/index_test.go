package index

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
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
	_, err := x.Refresh(t.Context())
	require.NoError(t, err)
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{p}})
	assert.Equal(t, [][]string{{berlin, hub}}, told)
	p = commit(hub)
	x.Update(appcontext.Change{Pointers: []appcontext.Pointer{p}})
	_, err = x.Refresh(t.Context())
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
