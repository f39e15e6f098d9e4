package release_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/drains"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestANameGoesBesideVeryManyThatHaveGone: it notes its own drain. The step of the provider sees together which DNSEndpoints are gone.
// While it waits, it asks for the answers of the first ones alone.
func TestANameGoesBesideVeryManyThatHaveGone(t *testing.T) {
	t.Parallel()
	const cafe = intent.Path("projects/shop/names/cafe.lab.example")
	const few, many = 40, 400
	goes, begins, waits, waitsUnused := map[int]storeCost{}, map[int]storeCost{}, map[int]storeCost{}, map[int]storeCost{}
	for _, others := range []int{few, many} {
		w := newNames(t)
		store := &costing{KV: w.fake}
		w.restartOn(store)
		require.NoError(t, w.publish(bakery, ofFront))
		w.settle(bakery)
		require.NoError(t, w.publish(cafe, ofFront))
		w.settle(bakery, cafe)
		known := drains.Of(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub})
		gone := make([]drains.Drain, others)
		for n := range gone {
			gone[n].Endpoint = fmt.Sprintf("n%03d", n)
		}
		require.NoError(t, known.Note(t.Context(), gone))
		stepsRecord := func() error { return w.service.StepRecord(t.Context(), lab) }

		_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
		require.NoError(t, err)
		goes[others] = store.of(t, "a name goes", func() error { return w.step(bakery) })
		w.applyAll()
		begins[others] = store.of(t, "they are seen to be gone", stepsRecord)
		waits[others] = store.of(t, "the provider has users", stepsRecord)
		_, err = w.service.UnpublishName(ann(cafe), cafe, intent.NameRequest{Actor: "ann"})
		require.NoError(t, err)
		require.NoError(t, w.step(cafe))
		w.applyAll()
		require.NoError(t, stepsRecord())
		waitsUnused[others] = store.of(t, "the provider has none", stepsRecord)
		all, err := known.All(t.Context())
		require.NoError(t, err)
		require.Len(t, all, others+2)

		w.clock.pass(2*time.Minute + time.Second)
		w.settle(bakery, cafe)
		all, err = known.All(t.Context())
		require.NoError(t, err)
		require.Empty(t, all)
		require.False(t, w.runs(labOnHub))
	}
	require.Equal(t, goes[few], goes[many])
	pages := func(many int) int { return (many + kv.MaxOps) / kv.MaxOps }
	require.Equal(t, begins[few].Reads+pages(many)-1, begins[many].Reads)
	require.Equal(t, begins[few].Writes+pages(many)-1, begins[many].Writes)
	require.Equal(t, waits[few].Reads, waits[many].Reads)
	require.Equal(t, waitsUnused[few].Reads, waitsUnused[many].Reads)
	require.Zero(t, waits[many].Writes+waitsUnused[many].Writes)
}

// TestANameThatComesBackIsNotWaitedFor: it is gone no more, and its external-dns is looked at no longer for that.
func TestANameThatComesBackIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.NoError(t, w.rest())
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	w.clock.pass(2*time.Minute + time.Second)
	w.settle(bakery)
	draining, err := drains.Any(t.Context(), w.service.Store, lab)
	require.NoError(t, err)
	require.False(t, draining)
	require.Len(t, w.published(bakery), 1)
}
