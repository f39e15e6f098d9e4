package release_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
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
		known := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub})
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

// goes has a name unpublished, and its DNSEndpoint gone.
func (w *world) goes(name intent.Path) {
	w.Helper()
	_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
	require.NoError(w, err)
	require.NoError(w, w.step(name))
	w.applyAll()
}

// TestAnAnswerOfAnEarlierGoingDoesNotCount, though the provider was not looked at while the name was back.
func TestAnAnswerOfAnEarlierGoingDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	snap := w.snapshot(bakery)
	endpoint := endpoints.Name(snap.Group, snap.Group.Bindings[0])
	w.goes(bakery)
	w.hear(endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now())
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.step(bakery))
	w.applyAll()
	w.goes(bakery)
	for range 3 {
		require.NoError(t, w.service.StepRecord(t.Context(), lab))
	}
	require.True(t, w.runs(labOnHub))
}

// TestNamesThatGoBeforeAMoveHaveTheirTimeAfterIt: while no external-dns runs, nothing removes them.
func TestNamesThatGoBeforeAMoveHaveTheirTimeAfterIt(t *testing.T) {
	t.Parallel()
	const cafe = intent.Path("projects/shop/names/cafe.lab.example")
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	require.NoError(t, w.publish(cafe, ofFront))
	w.settle(bakery, cafe)
	w.goes(bakery)
	known := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub})
	another := []drains.Drain{{Endpoint: "another"}}
	require.NoError(t, known.Note(t.Context(), another))
	require.NoError(t, w.service.StepRecord(t.Context(), lab))
	require.NoError(t, w.moveTo("paris"))
	w.clock.pass(3 * time.Minute)
	w.meanwhile("/signpost/drains/", func() { require.NoError(t, known.Note(t.Context(), another)) })
	w.settle(cafe)
	require.True(t, w.runs(labOnParis))
	all, err := known.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, drain := range all {
		require.Equal(t, w.clock.Now(), drain.Since)
	}
}

// TestANameThatGoesDuringALookHasItsTime: the look was about to end an earlier drain of it.
func TestANameThatGoesDuringALookHasItsTime(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	w.goes(bakery)
	require.NoError(t, w.service.StepRecord(t.Context(), lab))
	w.clock.pass(3 * time.Minute)
	known := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub})
	before, err := known.All(t.Context())
	require.NoError(t, err)
	w.meanwhile("/signpost/drains/", func() { require.NoError(t, known.Note(t.Context(), before)) })
	require.NoError(t, w.service.StepRecord(t.Context(), lab))
	all, err := known.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, w.runs(labOnHub))
}

// TestANameThatWentWithMoreTargetsHasTheirTime: with coredns, each takes an interval.
func TestANameThatWentWithMoreTargetsHasTheirTime(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	w.goes(bakery)
	w.observe(paris, "shop/front")
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.step(bakery))
	w.applyAll()
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11"}, w.published(bakery))
	w.goes(bakery)
	all, err := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub}).All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, 2, all[0].Targets)
}

// TestLeftoversAreToldHoursLater, when all else of the group has ended, too. They are no part of later looks.
func TestLeftoversAreToldHoursLater(t *testing.T) {
	t.Parallel()
	w := running(t)
	endpoint := w.publishedBy()
	w.do(intent.Terminate, prod)
	require.NoError(t, w.step(prod))
	w.applyAll()
	w.hear(endpoint, "StillThere", "192.0.2.53:53 still answers 203.0.113.10", time.Time{})
	require.NoError(t, w.service.StepRecord(t.Context(), lab))
	w.clock.pass(2 * time.Minute)
	require.NoError(t, w.service.StepRecord(t.Context(), lab))
	all, err := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub}).All(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
	w.clock.pass(5 * time.Hour)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Len(t, w.snapshot(prod).Lifecycle.Leftovers, 1)

	left := func() int {
		items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/left/"})
		require.NoError(t, err)
		return len(items)
	}
	require.Equal(t, 1, left())
	require.NoError(t, w.service.Sweep(t.Context(), 10*time.Minute))
	require.Equal(t, 1, left())
	w.clock.pass(31 * 24 * time.Hour)
	require.NoError(t, w.service.Sweep(t.Context(), 10*time.Minute))
	require.Zero(t, left())
}
