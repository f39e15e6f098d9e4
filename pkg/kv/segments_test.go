package kv_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/kv/kvtest"
)

func TestSegmentsAreNamedOnceFromOneKeyEach(t *testing.T) {
	store := kvtest.NewFake()
	for _, key := range []string{"/a/edge+hub/1", "/a/edge+hub/2/3", "/a/edge+hub-2/1", "/a/edge+a/x", "/b/edge+else/1", "/a"} {
		_, _, err := store.Txn(t.Context(), nil, kv.Put(key, nil))
		require.NoError(t, err)
	}
	reads := 0
	store.Before = func(string, string) error { reads++; return nil }
	found, err := kv.Segments(t.Context(), store, "/a/")
	require.NoError(t, err)
	require.Equal(t, []string{"edge+a", "edge+hub-2", "edge+hub"}, found, "in the order of their keys: - is before /")
	require.Equal(t, len(found)+1, reads)

	found, err = kv.Segments(t.Context(), store, "/c/")
	require.NoError(t, err)
	require.Empty(t, found)
	store.Before = func(string, string) error { return errors.New("no leader") }
	_, err = kv.Segments(t.Context(), store, "/a/")
	require.ErrorContains(t, err, "no leader")
}
