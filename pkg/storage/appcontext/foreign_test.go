package appcontext_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestWhatEMCOsRsyncWritesIntoAContextDisturbsNothing: EMCO has it uninstall the
// children of what it terminates, and so it writes its states there.
func TestWhatEMCOsRsyncWritesIntoAContextDisturbsNothing(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	object := configMap(t, "edge+berlin", "web", "settings", "1")
	p := commit(t, s, appcontext.Context{ID: "42", Objects: collect(t, object)})
	for key, value := range map[string]string{
		"/context/42/rsync/state/CurrentState/":                                          `{"Status":"Created"}`,
		"/context/42/rsync/AppContextEventQueue/":                                        `{"AcQueue":[{"event":"Terminate","status":"Skip"}]}`,
		"/context/42/status/":                                                            `{"Status":"Created"}`,
		"/context/42/stopflag/":                                                          `false`,
		"/activecontext/42/":                                                             `"42"`,
		"/context/42/app/web/cluster/edge+berlin/status/":                                `"{}"`,
		"/context/42/app/web/cluster/edge+berlin/readystatus/":                           `"Available"`,
		"/context/42/app/web/cluster/edge+berlin/resource/settings+ConfigMap/status/":    `{"Status":"Pending"}`,
		"/context/42/app/web/cluster/edge+berlin/resource/settings+ConfigMap/reference/": `"42"`,
	} {
		_, _, err := store.Txn(t.Context(), nil, kv.Put(key, []byte(value)))
		require.NoError(t, err)
	}
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, collect(t, object), got)

	after := configMap(t, "edge+berlin", "web", "settings", "2")
	p, err = s.Rewrite(t.Context(), p, "web", "edge+berlin", changed(got, collect(t, after)))
	require.NoError(t, err)
	got, err = s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, collect(t, after), got)

	for _, id := range []string{"43", "44"} {
		commit(t, s, appcontext.Context{ID: id, Objects: collect(t, object)})
	}
	require.NoError(t, s.Sweep(t.Context(), -time.Second))
	left, _, err := store.Range(t.Context(), kv.Range{Prefix: "/context/42/"})
	require.NoError(t, err)
	require.Empty(t, left)
}
