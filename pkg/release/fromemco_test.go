package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestMissedEventsAreMadeUpForByWhatRsyncWasTold: EMCO posts an event once, to
// one controller after the other until one fails, and to nobody that is down.
func TestMissedEventsAreMadeUpForByWhatRsyncWasTold(t *testing.T) {
	t.Parallel()
	t.Run("instantiate", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.appContext(firstContext)
		w.settle(prod)
		require.Equal(t, intent.Created, w.state(prod))
		w.tell(firstContext, "Instantiate", "")
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	})
	t.Run("update", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.tell(secondContext, "Update", firstContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "both are on their way")
		w.tell(firstContext, "UpdateDelete", secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
	})
	t.Run("rollback", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.tell(firstContext, "Update", secondContext)
		w.tell(secondContext, "UpdateDelete", firstContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	})
	t.Run("two updates and a rollback", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.replace(firstContext, secondContext)
		w.serve("three.lab.example")
		w.appContext(thirdContext)
		w.replace(secondContext, thirdContext)
		w.replace(thirdContext, secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		require.Equal(t, int64(2), w.snapshot(prod).Lifecycle.Seq)
	})
	t.Run("rollback of what has failed", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.rsync(secondContext, "InstantiateFailed")
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		w.tell(firstContext, "Update", secondContext)
		w.tell(secondContext, "UpdateDelete", firstContext) // which rsync skips: the context stays as it failed
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	})
	t.Run("terminate", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.tell(secondContext, "Terminate", "")
		w.outlive()
		require.Equal(t, "Terminated 2222 []", w.current())
	})
	t.Run("terminate, before rsync has begun with the update", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.tell(secondContext, "Update", firstContext)
		w.event(secondContext, intent.Update)
		w.settle(prod)
		w.tell(secondContext, "Terminate", "")
		w.outlive()
		require.Equal(t, "Terminated 2222 []", w.current(), "what was there before does not come back")
	})
	t.Run("update and terminate", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.replace(firstContext, secondContext)
		w.tell(secondContext, "Terminate", "")
		w.outlive()
		require.Equal(t, "Terminated 1111 []", w.current())
	})
	t.Run("terminate and instantiate", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.tell(secondContext, "Terminate", "")
		w.serve("three.lab.example")
		w.appContext(thirdContext)
		w.tell(thirdContext, "Instantiate", "")
		w.settle(prod)
		require.Equal(t, "Instantiated 3333 [edge+hub lab/public: three.lab.example A 203.0.113.10,203.0.113.20]", w.current())
	})
	t.Run("an update to what nobody has prepared", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.writeContext(secondContext)
		w.replace(firstContext, secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "what it has of the group is not known")
		report := w.snapshot(prod).AppContext
		require.Equal(t, "1111 Updated", report.ID+" "+report.State)
		require.Contains(t, report.Why, "EMCO has replaced the app context by one that Signpost does not know", "and users are told")
	})
}

// TestMissedEventsAreMadeUpForByTheStatesOfRsync where it keeps no queue.
func TestMissedEventsAreMadeUpForByTheStatesOfRsync(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"Instantiating", "Instantiated", "InstantiateFailed"} {
		w := newShop(t)
		w.appContext(firstContext)
		w.rsync(firstContext, "Created")
		w.settle(prod)
		require.Equal(t, intent.Created, w.state(prod))
		w.rsync(firstContext, state)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), state)
	}
	for _, state := range []string{"Updating", "Updated", "UpdatedFailed"} {
		w := newShop(t)
		w.appContext(firstContext)
		w.rsync(firstContext, "Instantiated")
		w.settle(prod)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.rsync(secondContext, "Instantiating")
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "both are on their way")
		w.rsync(firstContext, state)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current(), state)
		for _, end := range []string{"Terminating", "Terminated", "TerminateFailed"} {
			w.rsync(secondContext, end)
			w.outlive()
			require.Equal(t, "Terminated 2222 []", w.current(), end)
		}
	}
}

// TestEventsAndStatesDoNotFlap: rsync writes states long after it is told, and
// not in order.
func TestEventsAndStatesDoNotFlap(t *testing.T) {
	t.Parallel()
	prepared := func(t *testing.T) *world {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		return w
	}
	is := func(w *world, id string) func() bool {
		return func() bool { return w.snapshot(prod).Lifecycle.AppContext == id }
	}
	terminates := func(w *world) func() bool {
		return func() bool { return w.snapshot(prod).Lifecycle.Wanted == intent.Terminate }
	}
	t.Run("the event of the second comes while the first is Instantiated", func(t *testing.T) {
		t.Parallel()
		w := prepared(t)
		w.tell(secondContext, "Update", firstContext)
		w.event(secondContext, intent.Update)
		w.steadily(is(w, secondContext),
			func() { w.rsync(secondContext, "Created") },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.rsync(secondContext, "Instantiating") },
			func() { w.rsync(firstContext, "Instantiating") },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.rsync(secondContext, "InstantiateFailed") },
			func() { w.tell(firstContext, "UpdateDelete", secondContext) },
			func() { w.rsync(firstContext, "Updating") },
			func() { w.rsync(firstContext, "Updated") })
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		require.Equal(t, int64(2), w.snapshot(prod).Lifecycle.Seq)
	})
	t.Run("the event of a rollback comes before rsync begins with it", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.tell(firstContext, "Update", secondContext)
		w.event(firstContext, intent.Update)
		w.steadily(is(w, firstContext),
			func() {},
			func() { w.rsync(firstContext, "Instantiating") },
			func() { w.tell(secondContext, "UpdateDelete", firstContext) },
			func() { w.rsync(secondContext, "Updating") },
			func() { w.rsync(secondContext, "Updated") },
			func() { w.rsync(firstContext, "Instantiated") })
		require.Equal(t, int64(3), w.snapshot(prod).Lifecycle.Seq)
		w.replace(firstContext, secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
	})
	t.Run("an event comes when it is history", func(t *testing.T) {
		t.Parallel()
		w := prepared(t)
		w.replace(firstContext, secondContext)
		w.serve("three.lab.example")
		w.appContext(thirdContext)
		w.replace(secondContext, thirdContext)
		w.event(thirdContext, intent.Update)
		w.event(secondContext, intent.Update)
		w.settle(prod)
		require.Contains(t, w.current(), "Instantiated 3333", "what rsync was told since counts")
	})
	t.Run("the event of a rollback comes, and that of the update has not", func(t *testing.T) {
		t.Parallel()
		w := prepared(t)
		w.replace(firstContext, secondContext)
		w.tell(firstContext, "Update", secondContext)
		w.event(firstContext, intent.Update)
		w.steadily(is(w, firstContext),
			func() {},
			func() { w.tell(secondContext, "UpdateDelete", firstContext) })
		require.Equal(t, int64(1), w.snapshot(prod).Lifecycle.Seq, "it has never been away")
	})
	t.Run("the first stays Instantiated when the second is terminated", func(t *testing.T) {
		t.Parallel()
		w := prepared(t)
		w.tell(secondContext, "Update", firstContext)
		w.event(secondContext, intent.Update)
		w.settle(prod)
		require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
		w.steadily(terminates(w),
			func() { w.tell(secondContext, "Terminate", "") },
			func() { w.rsync(secondContext, "Terminated") },
			func() { w.vanish(secondContext) },
			func() { w.vanish(firstContext) })
	})
	t.Run("the second is terminated before its event has come", func(t *testing.T) {
		t.Parallel()
		w := prepared(t)
		w.tell(secondContext, "Update", firstContext)
		require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
		w.steadily(terminates(w),
			func() { w.tell(firstContext, "UpdateDelete", secondContext) },
			func() { w.tell(secondContext, "Terminate", "") })
	})
	t.Run("the first is terminated before its event has come", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.appContext(firstContext)
		w.tell(firstContext, "Instantiate", "")
		require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
		w.steadily(func() bool { return w.state(prod) == intent.Created },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.tell(firstContext, "Terminate", "") })
	})
	t.Run("a rollback that no event has told is terminated", func(t *testing.T) {
		t.Parallel()
		for _, begun := range []bool{false, true} {
			w := updated(t)
			w.tell(firstContext, "Update", secondContext)
			if begun {
				w.tell(secondContext, "UpdateDelete", firstContext)
			}
			require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
			require.Equal(t, intent.Terminating, w.state(prod), "rsync has begun: %t", begun)
		}
	})
	t.Run("an old context is terminated late", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		before := w.keys()
		require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
		require.Equal(t, before, w.keys())
	})
}

// steadily does one thing after the other, and checks that a condition holds
// whenever the world has come to rest.
func (w *world) steadily(holds func() bool, deeds ...func()) {
	w.Helper()
	for n, deed := range deeds {
		deed()
		require.NoError(w, w.rest())
		require.True(w, holds(), "after deed %d: %s", n, w.current())
	}
}

func TestContextsThatVanish(t *testing.T) {
	t.Parallel()
	t.Run("before their event", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		frozen := w.snapshot(prod).Lifecycle.Prepared[1].ContextID
		w.vanish(secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "an update that was given up")
		w.sweep()
		require.Len(t, w.snapshot(prod).Lifecycle.Prepared, 1)
		require.NotContains(t, w.keys(), "/signpost/release/"+frozen+"/000000")
	})
	t.Run("an instantiation that was given up", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.appContext(firstContext)
		w.vanish(firstContext)
		w.settle(prod)
		w.sweep()
		require.Empty(t, w.snapshot(prod).Lifecycle.Prepared)
		for key := range w.keys() {
			require.NotContains(t, key, "/signpost/release/")
		}
	})
	t.Run("the current one", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.vanish(secondContext)
		w.outlive()
		require.Equal(t, "Terminated 2222 []", w.current(), "with its apps the names go")
		require.Empty(t, w.inClusters())
	})
	t.Run("the current one, and another has taken its place", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.tell(secondContext, "Update", firstContext)
		w.vanish(firstContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		w.sweep()
		require.Len(t, w.snapshot(prod).Lifecycle.Prepared, 1)
	})
	t.Run("all, after a termination", func(t *testing.T) {
		t.Parallel()
		w := updated(t)
		w.event(secondContext, intent.Terminate)
		w.outlive()
		w.vanish(firstContext)
		w.settle(prod)
		w.vanish(secondContext)
		w.settle(prod)
		w.sweep()
		require.Equal(t, "Terminated 2222 []", w.current())
		require.Empty(t, w.snapshot(prod).Lifecycle.Prepared)
	})
	t.Run("one whose state nobody can read", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.putKey("/context/1111/rsync/AppContextEventQueue/", `"?"`)
		w.settle(prod)
		w.sweep()
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
		require.Len(t, w.snapshot(prod).Lifecycle.Prepared, 1)
	})
}

// sweep removes what nobody owns, and what nobody has owned for long.
func (w *world) sweep() {
	w.Helper()
	const age = time.Minute
	for range 3 {
		require.NoError(w, w.service.Sweep(context.Background(), age))
		w.clock.pass(2 * age)
	}
}

// TestWhatWasPreparedForAnEarlierGroupIsPassedOver: one of the same name has
// come since.
func TestWhatWasPreparedForAnEarlierGroupIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	for _, path := range []intent.Path{www(prod), front, prod} {
		require.NoError(t, w.delete(path))
	}
	w.group(prod, "web", "www.lab.example")
	w.tell(firstContext, "Instantiate", "")
	settled, err := w.service.StepGroup(t.Context(), prod)
	require.NoError(t, err)
	require.True(t, settled)
	require.Equal(t, intent.Created, w.state(prod))
}

// TestPatchesThatWereLeftInTheMiddleAreSwept, also of contexts that nobody asks
// for again.
func TestPatchesThatWereLeftInTheMiddleAreSwept(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.putKey("/signpost/emco/7777/patch/a/", "2020-01-01T00:00:00Z")
	w.putKey("/signpost/emco/7777/patch/a/00000000/after", "/context/7777/app/web/\n1")
	w.putKey("/signpost/emco/8888/patch", `{"phase":"forward","attempt":"b","writes":1,"done":0}`)
	w.putKey("/signpost/emco/8888/patch/b/", "2020-01-01T00:00:00Z")
	w.putKey("/signpost/emco/8888/patch/b/00000000/after", "/context/8888/app/web/\n1")
	w.putKey("/signpost/emco/8888/patch/b/00000000/before", "/context/8888/app/web/\n0")
	w.sweep()
	for key := range w.keys() {
		require.NotContains(t, key, "/signpost/emco/")
	}
}

// TestAGroupEndsWithAContextThatSignpostWasNotCalledFor: somebody has taken
// Signpost out of the group's intents in EMCO, then updated and terminated it.
func TestAGroupEndsWithAContextThatSignpostWasNotCalledFor(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.writeContext(secondContext)
	w.replace(firstContext, secondContext)
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "its Services may still be there")
	w.writeContext(thirdContext)
	w.replace(secondContext, thirdContext)
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	w.tell(thirdContext, "Terminate", "")
	w.rsync(thirdContext, "Terminated")
	w.outlive()
	require.Equal(t, "Terminated 1111 []", w.current())
}
