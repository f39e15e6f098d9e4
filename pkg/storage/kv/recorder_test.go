package kv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestReadsAreUnchangedUntilAKeyOfThemChanges: a key that was read or was absent, and a key
// that comes or goes below a prefix. Other keys do not count.
func TestReadsAreUnchangedUntilAKeyOfThemChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    kv.Op
		unchanged bool
	}{
		"another key":               {kv.Put("/other", nil), true},
		"the value of a walked key": {kv.Put("/walk/a/1", []byte("2")), true},
		"a walked key that went":    {kv.Delete("/walk/a/1"), false},
		"a key that was read":       {kv.Put("/key", []byte("2")), false},
		"a key that went":           {kv.Delete("/key"), false},
		"a key that was absent":     {kv.Put("/absent", nil), false},
		"a named key":               {kv.Put("/named", []byte("2")), false},
		"a named one that was not":  {kv.Put("/unnamed", nil), false},
		"a key below the prefix":    {kv.Put("/all/1", []byte("2")), false},
		"a new one there":           {kv.Put("/all/3", nil), false},
		"one that went there":       {kv.Delete("/all/2"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := kvtest.NewFake()
			_, _, err := fake.Txn(t.Context(), nil, kv.Put("/key", nil), kv.Put("/named", nil), kv.Put("/all/1", nil), kv.Put("/all/2", nil), kv.Put("/walk/a/1", nil))
			require.NoError(t, err)
			recorder := &kv.Recorder{KV: fake}
			ctx, reads := recorder.Record(t.Context())
			for _, key := range []string{"/key", "/absent"} {
				_, _, err = recorder.Get(ctx, key)
				require.NoError(t, err)
			}
			for _, asked := range []kv.Range{{Prefix: "/all/"}, {Keys: []string{"/named", "/unnamed"}}} {
				_, _, err = recorder.Range(ctx, asked)
				require.NoError(t, err)
			}
			_, err = kv.Segments(ctx, recorder, "/walk/")
			require.NoError(t, err)
			require.Equal(t, 8, reads.Size())
			same, err := reads.Unchanged(t.Context())
			require.NoError(t, err)
			require.True(t, same)
			_, _, err = fake.Txn(t.Context(), nil, test.change)
			require.NoError(t, err)
			same, err = reads.Unchanged(t.Context())
			require.NoError(t, err)
			require.Equal(t, test.unchanged, same)
		})
	}
}

// TestReadsAtTwoRevisionsAreNotUnchanged: what followed from them is no answer of now.
func TestReadsAtTwoRevisionsAreNotUnchanged(t *testing.T) {
	t.Parallel()
	fake := kvtest.NewFake()
	recorder := &kv.Recorder{KV: fake}
	ctx, reads := recorder.Record(t.Context())
	for range 2 {
		_, _, err := recorder.Get(ctx, "/key")
		require.NoError(t, err)
		_, _, err = fake.Txn(ctx, nil, kv.Put("/key", nil))
		require.NoError(t, err)
	}
	same, err := reads.Unchanged(t.Context())
	require.NoError(t, err)
	require.False(t, same)
}
