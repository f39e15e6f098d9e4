package stores

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
)

// TestADumpOfDocumentsIsLoadedAsTheyWere, with what they refer to, also while
// others write.
func TestADumpOfDocumentsIsLoadedAsTheyWere(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	open := func(database string) *mongo.Store {
		store, err := mongo.New(t.Context(), "mongodb://"+server.address+database)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	from, to := open("/from"), open("/to")
	empty, err := from.Empty(t.Context())
	require.NoError(t, err)
	require.True(t, empty)

	var done atomic.Bool
	var writers errgroup.Group
	writers.Go(func() error {
		defer done.Store(true)
		for n := range 40 {
			project := intent.Join("projects", string(rune('a'+n%26))+string(rune('a'+n/26)))
			if _, err := from.Put(t.Context(), intent.Write{Path: project, Body: []byte(`{}`)}); err != nil {
				return err
			}
			below := intent.Write{Path: project.Child("dns-update-records", "lab"), Body: []byte(`{"n":1}`), Refs: []intent.Path{project}}
			if _, err := from.Put(t.Context(), below); err != nil {
				return err
			}
		}
		return nil
	})
	for !done.Load() {
		_, err := from.Dump(t.Context())
		if err != nil {
			require.Equal(t, intent.Unavailable, intent.CodeOf(err))
		}
	}
	require.NoError(t, writers.Wait())

	dump, err := from.Dump(t.Context())
	require.NoError(t, err)
	require.Len(t, dump, 80)
	for range 2 { // a restore may be repeated
		for id, raw := range dump {
			require.NoError(t, to.Load(t.Context(), id, raw))
		}
	}
	again, err := to.Dump(t.Context())
	require.NoError(t, err)
	require.Equal(t, dump, again)
	for id := range dump {
		was, err := from.Get(t.Context(), intent.Path(id))
		require.NoError(t, err)
		is, err := to.Get(t.Context(), intent.Path(id))
		require.NoError(t, err)
		require.Equal(t, was, is)
	}
	by, err := to.Referrers(t.Context(), "projects/aa")
	require.NoError(t, err)
	require.Equal(t, []intent.Path{"projects/aa/dns-update-records/lab"}, by)

	_, err = from.Put(t.Context(), intent.Write{Path: "projects/newer", Body: []byte(`{}`), Schema: intent.Schema + 1})
	require.NoError(t, err)
	_, err = from.Dump(t.Context())
	require.ErrorContains(t, err, "was written by a newer Signpost")
}
