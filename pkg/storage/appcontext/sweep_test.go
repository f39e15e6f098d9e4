package appcontext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// keysLeft are those of the store, but for the two that tell of changes.
func keysLeft(t *testing.T, store kv.KV) (keys []string) {
	t.Helper()
	items, _, err := store.Range(t.Context(), kv.Range{Prefix: "/signpost/"})
	require.NoError(t, err)
	for _, item := range items {
		if item.Key != "/signpost/moved" && item.Key != "/signpost/retired" {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// TestAnOwnerThatRetiresLeavesNothing, and a writer who has read before that it never had a context gives it none.
func TestAnOwnerThatRetiresLeavesNothing(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	objects := collect(t, configMap(t, "edge+hub", "web", "a", "1"))
	none, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	commit(t, s, appcontext.Context{ID: "1", Objects: objects})
	require.NoError(t, s.Retire(t.Context(), owner), "it has a context, and is none that retires")
	require.NoError(t, s.Sweep(t.Context(), 0))
	gone := commit(t, s, appcontext.Context{})
	changes := s.Watch(t.Context(), gone.Revision()+1)

	require.NoError(t, s.Retire(t.Context(), owner))
	commit(t, s, appcontext.Context{ID: "2", Objects: objects})
	require.NoError(t, s.Sweep(t.Context(), 0))
	back, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	require.Equal(t, "2", back.ContextID, "it came back")
	commit(t, s, appcontext.Context{})

	require.NoError(t, s.Retire(t.Context(), owner))
	require.NotEmpty(t, keysLeft(t, store))
	require.NoError(t, s.Sweep(t.Context(), 0))
	require.Empty(t, keysLeft(t, store))
	for {
		change := <-changes
		require.NotEmpty(t, change.Pointers)
		if p := change.Pointers[len(change.Pointers)-1]; p.Seq == 0 {
			require.Equal(t, owner, p.Owner)
			require.Empty(t, p.ContextID)
			break
		}
	}

	_, err = s.Commit(t.Context(), none, appcontext.Context{ID: "3", Objects: objects, Plain: true})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
	_, err = s.Commit(t.Context(), none, appcontext.Context{ID: "3", Objects: objects})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
	require.Empty(t, keysLeft(t, store))
	commit(t, s, appcontext.Context{ID: "4", Objects: objects})
}
