package emco_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestResultsAreWhatRsyncHasNoted in the first context of a group that was
// updated.
func TestResultsAreWhatRsyncHasNoted(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		dump(t, "updated-first").write(t, store)
		results, err := newStore(store).Results(t.Context(), first)
		require.NoError(t, err)
		require.NotEmpty(t, results.Resources)
		for at, result := range results.Resources {
			require.Contains(t, []string{"Applied", "Deleted", "Pending"}, result.Status, at)
			require.Contains(t, []string{first, second, ""}, result.Context, at)
			require.Equal(t, "web", at.App)
		}
		require.False(t, results.Waiting[paris])

		at := "/context/" + first + "/app/web/cluster/" + paris + "/"
		keys{at + "readystatus/": `"Retrying"`, at + "resource/new+Thing/status/": `{"Status":"Failed"}`, at + "resource/new+Thing/reference/": `"77"`}.write(t, store)
		results, err = newStore(store).Results(t.Context(), first)
		require.NoError(t, err)
		require.True(t, results.Waiting[paris])
		require.Equal(t, emco.Result{Status: "Failed", Context: "77"}, results.Resources[emco.Place{App: "web", Cluster: paris, Key: "new+Thing"}])
	})
}

func TestResultsOfNothingAndOfWhatIsNoContext(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		results, err := newStore(store).Results(t.Context(), first)
		require.NoError(t, err)
		require.Empty(t, results.Resources)
		_, err = newStore(store).Results(t.Context(), "../x")
		require.Equal(t, intent.Invalid, intent.CodeOf(err))
	})
}

func TestActiveIsWhatRsyncWorksOn(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		s := newStore(store)
		_, revision, err := store.Get(t.Context(), "/none")
		require.NoError(t, err)
		changes := s.WatchActive(t.Context(), revision+1)
		active, err := s.Active(t.Context(), first)
		require.NoError(t, err)
		require.False(t, active)
		done, _, err := store.Txn(t.Context(), []kv.Compare{emco.Resting(first)}, kv.Put("/activecontext/"+first+"/", []byte(`"`+first+`"`)))
		require.NoError(t, err)
		require.True(t, done)
		active, err = s.Active(t.Context(), first)
		require.NoError(t, err)
		require.True(t, active)
		done, _, err = store.Txn(t.Context(), []kv.Compare{emco.Resting(first)})
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, first, (<-changes).Contexts[0].ID)
	})
}

// TestWhatRsyncIsToldBeforeItIsAsked is read as rsync's own.
func TestWhatRsyncIsToldBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		keys{"/context/" + second + "/": `"` + second + `"`}.write(t, store)
		_, _, err := store.Txn(t.Context(), nil, emco.StatusesIn(second, first), emco.Installed(second))
		require.NoError(t, err)
		state, err := newStore(store).State(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, first, state.StatusContext)
		require.Equal(t, "Instantiated", state.Current)
	})
}
