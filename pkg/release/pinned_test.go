package release_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/drains"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// withinStep does something once, when a step of the name bakery has read for the first time.
func (w *world) withinStep(do func()) {
	w.Helper()
	w.fake.After = func(string, string) error {
		w.fake.After = nil
		do()
		return nil
	}
	require.NoError(w, w.step(bakery))
	require.Nil(w, w.fake.After, "the step has read nothing")
}

// TestAnAnswerFromBeforeADrainDoesNotEndIt, though it was written after the step of the name had read:
// the name was asked for when it was to be there.
func TestAnAnswerFromBeforeADrainDoesNotEndIt(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	snap := w.snapshot(bakery)
	endpoint := endpoints.Name(snap.Group, snap.Group.Bindings[0])
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	w.withinStep(func() { w.hear(endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now()) })
	w.applyAll()
	for range 3 { // the first one sees that the DNSEndpoint is gone
		require.NoError(t, w.service.StepRecord(t.Context(), lab))
	}
	known, err := drains.For(w.service.Store, state.Use{Record: lab, Scope: intent.Public, Cluster: hub}).All(t.Context())
	require.NoError(t, err)
	require.Len(t, known, 1)
	require.Equal(t, endpoint, known[0].Endpoint)
	require.False(t, known[0].Since.IsZero())
}

// TestTheLastNameLeavesTheExternalDNSToANewOne that was accepted when the last step of the other had begun.
func TestTheLastNameLeavesTheExternalDNSToANewOne(t *testing.T) {
	t.Parallel()
	const cafe = intent.Path("projects/shop/names/cafe.lab.example")
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.NoError(t, w.step(bakery))
	w.applyAll()
	require.NoError(t, w.step(bakery)) // from now on, the external-dns outlives the name
	w.clock.pass(70 * time.Second)
	use := state.Use{Record: lab, Scope: intent.Public, Cluster: hub}
	before, err := w.contexts.Current(t.Context(), use.Owner())
	require.NoError(t, err)
	require.NotEmpty(t, before.ContextID)
	w.withinStep(func() { require.NoError(t, w.publish(cafe, ofFront)) })
	after, err := w.contexts.Current(t.Context(), use.Owner())
	require.NoError(t, err)
	require.Equal(t, before.Seq, after.Seq, "it was never away")
	w.settle(cafe)
}

// TestTheLastNameWaitsForTheExternalDNSThatAnotherLeft since the step of the last name began: it
// is not done while the external-dns may still publish it.
func TestTheLastNameWaitsForTheExternalDNSThatAnotherLeft(t *testing.T) {
	t.Parallel()
	const cafe = intent.Path("projects/shop/names/cafe.lab.example")
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.publish(cafe, ofFront))
	w.settle(bakery, cafe)
	leaves := func(name intent.Path) {
		_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
		require.NoError(t, err)
		require.NoError(t, w.step(name))
		w.applyAll()
	}
	leaves(bakery)
	w.withinStep(func() { leaves(cafe) })
	require.Equal(t, []state.Use{labOnHub}, w.snapshot(bakery).Lifecycle.Draining)
	require.NotEqual(t, intent.Terminated, w.state(bakery))
	w.outlive()
	require.Empty(t, w.inClusters())
}
