package handover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestAContextThatRsyncIsAtIsNotDone checks that nobody takes the objects of a
// context for applied while rsync still works on it.
func TestAContextThatRsyncIsAtIsNotDone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	s.rest()
	require.True(t, s.Ready())
	active := "/activecontext/" + s.children() + "/"
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put(active, []byte(`"1"`)))
	require.NoError(t, err)
	s.rsync.Calls()
	s.want(endpoint(t, "a", "2"))
	s.step()
	require.False(t, s.Ready())
	require.Empty(t, s.rsync.Calls())
	_, _, err = s.kv.Txn(t.Context(), nil, kv.Delete(active))
	require.NoError(t, err)
	s.rest()
	require.True(t, s.Ready())
}
