package observed_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func TestVerdictsAreKeptByPlacement(t *testing.T) {
	store := kvtest.NewFake()
	s, w := observed.New(store), writer(t, store, hub)
	read := func(key string) *placement.Verdict {
		t.Helper()
		v, err := s.Placement(t.Context(), hub, key)
		require.NoError(t, err)
		return v
	}
	assert.Nil(t, read("k1"), "what was not judged yet is unknown, not unsuitable (I11)")
	none := placement.Verdict{Nodes: 3, Excluded: []placement.Exclusion{{Reason: "label disktype=ssd is missing", Nodes: 3}}}
	require.NoError(t, w.SetPlacement(t.Context(), "k1", none))
	require.NoError(t, w.SetPlacement(t.Context(), "k2", placement.Verdict{Nodes: 3, Suitable: 3}))
	assert.Equal(t, &none, read("k1"))
	other, err := s.Placement(t.Context(), "edge+hub2", "k1")
	require.NoError(t, err)
	assert.Nil(t, other, "other clusters have other nodes")

	before := store.Revision()
	require.NoError(t, w.SetPlacement(t.Context(), "k1", none))
	assert.Equal(t, before, store.Revision(), "an unchanged verdict is not written")
	unasked := w.Unasked(slices.Values(w.Services()), map[string]placement.Placement{"k2": {}})
	require.NoError(t, w.Forget(t.Context(), unasked, kv.NotAfter("/signpost/current/", before)))
	assert.Nil(t, read("k1"))
	assert.NotNil(t, read("k2"))
}

func TestWriterThatLostTheClusterJudgesNothing(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	_, _, err := store.Txn(t.Context(), nil, kv.Delete("/signpost/workers/"+hub))
	require.NoError(t, err)
	require.ErrorIs(t, w.SetPlacement(t.Context(), "k1", placement.Verdict{}), observed.ErrLost)
}

func TestWatchNamesTheClustersOfChangedVerdicts(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	ctx, cancel := context.WithCancel(t.Context())
	changes := observed.New(store).Watch(ctx, store.Revision()+1)
	for _, change := range []func() error{
		func() error { return w.SetPlacement(t.Context(), "k1", placement.Verdict{Nodes: 1}) },
		func() error { return forget(t, store, w, store.Revision()) },
	} {
		require.NoError(t, change())
		seen := <-changes
		assert.Equal(t, []string{hub}, seen.Placements)
		assert.Equal(t, []string{hub}, seen.Clusters)
		assert.Empty(t, seen.Services)
	}
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	assert.Empty(t, (<-changes).Placements)
	cancel()
	for range changes { // closes
	}
}
