package release_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const cafe = intent.Path("projects/shop/names/cafe.lab.example")

// goes has a name unpublished, and its DNSEndpoint gone.
func (w *world) goes(name intent.Path) {
	w.Helper()
	_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
	require.NoError(w, err)
	require.NoError(w, w.step(name))
	w.applyAll()
}

// settles has names published, and their DNSEndpoints there.
func (w *world) settles(all ...intent.Path) {
	w.Helper()
	for _, name := range all {
		require.NoError(w, w.publish(name, ofFront))
	}
	w.settle(all...)
}

// cleanups are those of the external-dns of lab.
func (w *world) cleanups() []cleanup.Cleanup {
	w.Helper()
	all, _, err := cleanup.Of(w.service.Store, labOnHub).All(w.Context())
	require.NoError(w, err)
	return all
}

// notes has DNSEndpoints noted as ones that are deleted.
func (w *world) notes(all ...cleanup.Cleanup) {
	w.Helper()
	require.NoError(w, cleanup.Of(w.service.Store, labOnHub).Note(w.Context(), all, w.clock.Now()))
}

func (w *world) stepLab() {
	w.Helper()
	require.NoError(w, w.service.StepRecord(w.Context(), lab))
}

// cleanupCost is what the steps of a name that is deleted and of its provider cost beside so many others that have gone.
func cleanupCost(t *testing.T, others int) map[string]storeCost {
	w := newNames(t)
	store := &costing{KV: w.fake}
	w.restartOn(store)
	w.settles(bakery)
	w.settles(cafe)
	gone := make([]cleanup.Cleanup, others)
	for n := range gone {
		gone[n].Endpoint = fmt.Sprintf("n%03d", n)
	}
	w.notes(gone...)
	cost := map[string]storeCost{}
	stepLab := func() error { return w.service.StepRecord(t.Context(), lab) }

	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	cost["a name goes"] = store.of(t, "", func() error { return w.step(bakery) })
	w.applyAll()
	cost["timers start"] = store.of(t, "", stepLab)
	cost["used"] = store.of(t, "", stepLab)
	w.goes(cafe)
	w.stepLab()
	cost["unused"] = store.of(t, "", stepLab)
	require.Len(t, w.cleanups(), others+2)
	w.clock.pass(2*time.Minute + time.Second)
	cost["all end"] = store.of(t, "", stepLab)
	w.settle(bakery, cafe)
	require.Empty(t, w.cleanups())
	require.False(t, w.runs(labOnHub))
	return cost
}

// TestANameGoesBesideVeryManyThatHaveGone: it notes its own cleanup. The step of the provider sees together which DNSEndpoints are gone.
// While it waits, it asks for the answers of the first ones alone.
func TestANameGoesBesideVeryManyThatHaveGone(t *testing.T) {
	t.Parallel()
	const few, many = 40, 400
	small, large := cleanupCost(t, few), cleanupCost(t, many)
	require.Equal(t, small["a name goes"], large["a name goes"])
	const read, written = (many + kv.MaxOps) / kv.MaxOps, (many + kv.MaxOps/2) / (kv.MaxOps / 2) // pages
	require.Equal(t, small["timers start"].Reads+read-1, large["timers start"].Reads)
	require.LessOrEqual(t, large["timers start"].Writes, small["timers start"].Writes+written)
	require.LessOrEqual(t, large["all end"].Writes, small["all end"].Writes+written)
	for _, waits := range []string{"used", "unused"} {
		require.Equal(t, small[waits].Reads, large[waits].Reads, waits)
		require.LessOrEqual(t, large[waits].Items, small[waits].Items+(many-few), "each is read once")
		require.Zero(t, large[waits].Writes, waits)
	}
}

// TestANameThatComesAndGoesWhileTheExternalDNSEndsKeepsIt until it has removed the name, too.
func TestANameThatComesAndGoesWhileTheExternalDNSEndsKeepsIt(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	w.goes(bakery)
	w.stepLab()
	w.clock.pass(70 * time.Second)
	slow := w.service
	w.restartOn(w.fake)
	w.meanwhile("/signpost/current/", func() {
		require.NoError(t, w.publish(cafe, ofFront))
		require.NoError(t, w.step(cafe))
		w.applyAll()
		w.goes(cafe)
	})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(slow.StepRecord(t.Context(), lab)))
	w.stepLab()
	require.Len(t, w.cleanups(), 1)
	require.True(t, w.runs(labOnHub))
}

// TestCleanupsOfAnExternalDNSWithUsersAreLookedAtAgain, also if their DNSEndpoints go late: the last user does not wait for them.
func TestCleanupsOfAnExternalDNSWithUsersAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery, cafe)
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.NoError(t, w.step(bakery))
	var next time.Time
	w.service.Wakeups = &state.Wakeups{}
	w.service.Wakeups.Listen(func(n state.Wakeup) {
		if n.Owners[0] == lab {
			next = n.At
		}
	})
	for _, want := range []time.Duration{cleanup.LookUsed, 70 * time.Second} { // it is there still, and its timer runs
		w.stepLab()
		require.Equal(t, w.clock.Now().Add(want), next)
		w.applyAll()
	}
	w.clock.pass(70 * time.Second)
	w.stepLab()
	require.Empty(t, w.cleanups())

	group := w.snapshot(cafe).Group
	w.notes(cleanup.Cleanup{Endpoint: endpoints.Name(group, group.Bindings[0])}) // and it stays
	for _, age := range []time.Duration{2 * time.Minute, 10 * time.Minute} {
		w.clock.pass(age)
		w.stepLab()
	}
	require.Equal(t, w.clock.Now().Add(12*time.Minute), next)
	w.notes(cleanup.Cleanup{Endpoint: "gone"}) // it does not wait for that one
	w.stepLab()
	w.clock.pass(time.Second)
	w.stepLab()
	require.Equal(t, w.clock.Now().Add(69*time.Second), next)
}

// TestAnExternalDNSThatRunsOnLeavesNothingBehind, although a name is answered when its time is over.
func TestAnExternalDNSThatRunsOnLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)
	endpoint := w.publishedBy()
	w.do(intent.Terminate, prod)
	require.NoError(t, w.step(prod))
	w.applyAll()
	w.hear(endpoint, "StillThere", "192.0.2.53:53 still answers 203.0.113.10", time.Time{})
	w.stepLab()
	w.clock.pass(2 * time.Minute)
	w.stepLab()
	require.Empty(t, w.cleanups())
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.snapshot(prod).Lifecycle.Leftovers)
}

// TestShortCleanupsEndBesideVeryManyLongOnes that began before them.
func TestShortCleanupsEndBesideVeryManyLongOnes(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.put(lab, strings.Replace(record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`), `,"releaseTimeout":"70s"`, "", 1))
	w.settles(bakery)
	long := make([]cleanup.Cleanup, kv.MaxOps)
	for n := range long {
		long[n] = cleanup.Cleanup{Endpoint: fmt.Sprintf("a%03d", n), Targets: 50}
	}
	w.notes(long...)
	w.stepLab()
	w.clock.pass(time.Second)
	w.goes(bakery)
	w.stepLab()
	w.clock.pass(4 * time.Minute)
	w.stepLab()
	require.Len(t, w.cleanups(), len(long))
}

// TestNotesAtOnceKeepTheMostTargets of both.
func TestNotesAtOnceKeepTheMostTargets(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.meanwhile("/signpost/cleanups/", func() { w.notes(cleanup.Cleanup{Endpoint: "web", Targets: 5}) })
	w.notes(cleanup.Cleanup{Endpoint: "web", Targets: 3})
	require.Equal(t, 5, w.cleanups()[0].Targets)
}

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

// TestAnAnswerFromBeforeACleanupDoesNotEndIt, though it was written after the step of the name had read:
// the name was asked for when it was to be there.
func TestAnAnswerFromBeforeACleanupDoesNotEndIt(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	snap := w.snapshot(bakery)
	endpoint := endpoints.Name(snap.Group, snap.Group.Bindings[0])
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	w.withinStep(func() { w.hear(endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now()) })
	w.applyAll()
	for range 3 { // the first one sees that the DNSEndpoint is gone
		w.stepLab()
	}
	require.Len(t, w.cleanups(), 1)
	require.Equal(t, endpoint, w.cleanups()[0].Endpoint)
	require.False(t, w.cleanups()[0].GoneSince.IsZero())
}

// TestAnAnswerOfAnEarlierGoingDoesNotCount, though the provider was not looked at while the name was back.
func TestAnAnswerOfAnEarlierGoingDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	snap := w.snapshot(bakery)
	endpoint := endpoints.Name(snap.Group, snap.Group.Bindings[0])
	w.goes(bakery)
	w.hear(endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now())
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.step(bakery))
	w.applyAll()
	w.goes(bakery)
	for range 3 {
		w.stepLab()
	}
	require.True(t, w.runs(labOnHub))
}

// TestNamesThatGoBeforeAMoveHaveTheirTimeAfterIt: while no external-dns runs, nothing removes them.
func TestNamesThatGoBeforeAMoveHaveTheirTimeAfterIt(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery, cafe)
	w.goes(bakery)
	another := cleanup.Cleanup{Endpoint: "another"}
	w.notes(another)
	w.stepLab()
	require.NoError(t, w.moveTo("paris"))
	w.clock.pass(3 * time.Minute)
	w.meanwhile("/signpost/cleanups/", func() { w.notes(another) })
	w.settle(cafe)
	require.True(t, w.runs(labOnParis))
	require.Len(t, w.cleanups(), 2)
	for _, one := range w.cleanups() {
		require.Equal(t, w.clock.Now(), one.GoneSince)
	}
}

// TestANameThatGoesDuringALookHasItsTime: the look was about to end an earlier cleanup of it.
func TestANameThatGoesDuringALookHasItsTime(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	w.goes(bakery)
	w.stepLab()
	w.clock.pass(3 * time.Minute)
	before := w.cleanups()
	w.meanwhile("/signpost/cleanups/", func() { w.notes(before...) })
	w.stepLab()
	require.Len(t, w.cleanups(), 1)
	require.True(t, w.runs(labOnHub))
}

// TestANameThatWentWithMoreTargetsHasTheirTime: with coredns, each takes an interval.
func TestANameThatWentWithMoreTargetsHasTheirTime(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	w.goes(bakery)
	w.observe(paris, "shop/front")
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.step(bakery))
	w.applyAll()
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11"}, w.published(bakery))
	w.goes(bakery)
	require.Len(t, w.cleanups(), 1)
	require.Equal(t, 2, w.cleanups()[0].Targets)
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
	w.stepLab()
	w.clock.pass(2 * time.Minute)
	w.stepLab()
	require.Empty(t, w.cleanups())
	w.clock.pass(5 * time.Hour)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Len(t, w.snapshot(prod).Lifecycle.Leftovers, 1)

	left := func() int {
		items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/leftovers/"})
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

// TestTheLastNameLeavesTheExternalDNSToANewOne that was accepted when the last step of the other had begun.
func TestTheLastNameLeavesTheExternalDNSToANewOne(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery)
	w.goes(bakery)
	require.NoError(t, w.step(bakery)) // from now on, the external-dns outlives the name
	w.clock.pass(70 * time.Second)
	before, err := w.contexts.Current(t.Context(), labOnHub.Owner())
	require.NoError(t, err)
	require.NotEmpty(t, before.ContextID)
	w.withinStep(func() { require.NoError(t, w.publish(cafe, ofFront)) })
	after, err := w.contexts.Current(t.Context(), labOnHub.Owner())
	require.NoError(t, err)
	require.Equal(t, before.Seq, after.Seq, "it was never away")
	w.settle(cafe)
}

// TestTheLastNameWaitsForTheExternalDNSThatAnotherLeft since the step of the last name began: it
// is not done while the external-dns may still publish it.
func TestTheLastNameWaitsForTheExternalDNSThatAnotherLeft(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.settles(bakery, cafe)
	w.goes(bakery)
	w.withinStep(func() { w.goes(cafe) })
	require.Equal(t, []state.Use{labOnHub}, w.snapshot(bakery).Lifecycle.Draining)
	require.NotEqual(t, intent.Terminated, w.state(bakery))
	w.outlive()
	require.Empty(t, w.inClusters())
}
