package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// TestMissedEventsAreMadeUpForByTheStateOfRsync: EMCO posts an event once, to
// one controller after the other until one fails, and to nobody that is down.
func TestMissedEventsAreMadeUpForByTheStateOfRsync(t *testing.T) {
	t.Run("instantiate", func(t *testing.T) {
		for _, state := range []string{"Instantiating", "Instantiated", "InstantiateFailed"} {
			w := newShop(t)
			w.appContext(firstContext)
			w.rsync(firstContext, "Created")
			w.settle(prod)
			require.Equal(t, intent.Created, w.state(prod))
			w.rsync(firstContext, "Instantiating")
			w.rsync(firstContext, state)
			w.settle(prod)
			require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), state)
		}
	})
	t.Run("update", func(t *testing.T) {
		for _, state := range []string{"Updating", "Updated", "UpdatedFailed"} {
			w := orchestrated(t)
			w.serve("two.lab.example")
			w.appContext(secondContext)
			w.rsync(secondContext, "Instantiating")
			w.settle(prod)
			require.Equal(t, "Instantiated 1111 "+wwwOf, w.current(), "both are on their way")
			w.rsync(firstContext, state)
			w.settle(prod)
			require.Equal(t, "Instantiated 2222 "+twoOf, w.current(), state)
		}
	})
	t.Run("rollback", func(t *testing.T) {
		w := updated(t)
		w.replace(secondContext, firstContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	})
	t.Run("terminate", func(t *testing.T) {
		for _, state := range []string{"Terminating", "Terminated", "TerminateFailed"} {
			w := updated(t)
			w.rsync(secondContext, state)
			w.outlive()
			require.Equal(t, "Terminated 2222 []", w.current(), state)
		}
	})
	t.Run("terminate and instantiate", func(t *testing.T) {
		w := updated(t)
		w.rsync(secondContext, "Terminated")
		w.serve("three.lab.example")
		w.appContext(thirdContext)
		w.rsync(thirdContext, "Instantiating")
		w.settle(prod)
		require.Equal(t, "Instantiated 3333 [edge+hub lab/public: three.lab.example A 203.0.113.10,203.0.113.20]", w.current())
	})
	t.Run("rollback of what has failed", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.event(secondContext, intent.Update)
		w.rsync(secondContext, "Instantiating")
		w.rsync(firstContext, "Updating")
		w.rsync(secondContext, "InstantiateFailed")
		w.rsync(firstContext, "Updated")
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		w.rsync(firstContext, "Instantiating") // rsync lets a context that failed be as it is
		w.settle(prod)
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	})
	t.Run("update and terminate", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.replace(firstContext, secondContext)
		w.rsync(secondContext, "Terminating")
		w.rsync(secondContext, "Terminated")
		w.outlive()
		require.Equal(t, "Terminated 1111 []", w.current(), "the first stays Updated for ever")
	})
	t.Run("two updates", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.rsync(secondContext, "Instantiating")
		w.rsync(firstContext, "Updating")
		w.rsync(secondContext, "InstantiateFailed")
		w.rsync(firstContext, "Updated")
		w.serve("three.lab.example")
		w.appContext(thirdContext)
		w.rsync(thirdContext, "Instantiating") // rsync lets a context that failed be as it is
		w.settle(prod)
		require.Contains(t, w.current(), "Instantiated 3333", "of two that are active, the one that rsync was told of last")
	})
}

// TestEventsAndStatesDoNotFlap: rsync writes states long after it is told, and
// not in order.
func TestEventsAndStatesDoNotFlap(t *testing.T) {
	t.Run("the event of the second comes while the first is Instantiated", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.event(secondContext, intent.Update)
		w.steadily(func() bool { return w.snapshot(prod).Lifecycle.AppContext == secondContext },
			func() { w.rsync(secondContext, "Created") },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.rsync(secondContext, "Instantiating") },
			func() { w.rsync(firstContext, "Instantiating") },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.rsync(secondContext, "InstantiateFailed") },
			func() { w.rsync(firstContext, "Updating") },
			func() { w.rsync(firstContext, "Updated") })
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		require.Equal(t, int64(2), w.snapshot(prod).Lifecycle.Seq)
	})
	t.Run("the event of a rollback comes before rsync begins with it", func(t *testing.T) {
		w := updated(t)
		w.event(firstContext, intent.Update)
		w.steadily(func() bool { return w.snapshot(prod).Lifecycle.AppContext == firstContext },
			func() {},
			func() { w.rsync(firstContext, "Instantiating") },
			func() { w.rsync(secondContext, "Updating") },
			func() { w.rsync(secondContext, "Updated") },
			func() { w.rsync(firstContext, "Instantiated") })
		require.Equal(t, int64(3), w.snapshot(prod).Lifecycle.Seq)
		w.replace(firstContext, secondContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current(), "what rsync says later counts")
	})
	t.Run("the event of a rollback comes, and that of the update has not", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.replace(firstContext, secondContext)
		w.event(firstContext, intent.Update)
		w.steadily(func() bool { return w.snapshot(prod).Lifecycle.AppContext == firstContext },
			func() {},
			func() { w.replace(secondContext, firstContext) })
		require.Equal(t, int64(1), w.snapshot(prod).Lifecycle.Seq, "it has never been away")
	})
	t.Run("the first stays Instantiated when the second is terminated", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.event(secondContext, intent.Update)
		w.rsync(secondContext, "Instantiating")
		w.settle(prod)
		require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
		w.steadily(func() bool { return w.snapshot(prod).Lifecycle.Wanted == intent.Terminate },
			func() { w.rsync(secondContext, "Terminating") },
			func() { w.rsync(secondContext, "Terminated") },
			func() { w.vanish(secondContext) },
			func() { w.vanish(firstContext) })
	})
	t.Run("the second is terminated before its event has come", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.rsync(secondContext, "Instantiating")
		require.NoError(t, w.service.TerminateContext(t.Context(), secondContext))
		w.steadily(func() bool { return w.snapshot(prod).Lifecycle.Wanted == intent.Terminate },
			func() { w.rsync(firstContext, "Updating") },
			func() { w.rsync(firstContext, "Updated") },
			func() { w.rsync(secondContext, "Terminated") })
	})
	t.Run("the first is terminated before its event has come", func(t *testing.T) {
		w := newShop(t)
		w.appContext(firstContext)
		require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
		w.steadily(func() bool { return w.state(prod) == intent.Created },
			func() { w.rsync(firstContext, "Instantiated") },
			func() { w.rsync(firstContext, "Terminated") })
	})
	t.Run("a rollback that no event has told is terminated", func(t *testing.T) {
		w := updated(t)
		w.rsync(firstContext, "Instantiating")
		w.rsync(secondContext, "Updating")
		require.NoError(t, w.service.TerminateContext(t.Context(), firstContext))
		require.Equal(t, intent.Terminating, w.state(prod))
	})
	t.Run("an old context is terminated late", func(t *testing.T) {
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
	t.Run("before their event", func(t *testing.T) {
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
		w := updated(t)
		w.vanish(secondContext)
		w.outlive()
		require.Equal(t, "Terminated 2222 []", w.current(), "with its apps the names go")
		require.Empty(t, w.inClusters())
	})
	t.Run("the current one, and another has taken its place", func(t *testing.T) {
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.rsync(secondContext, "Instantiating")
		w.vanish(firstContext)
		w.settle(prod)
		require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
		w.sweep()
		require.Len(t, w.snapshot(prod).Lifecycle.Prepared, 1)
	})
	t.Run("all, after a termination", func(t *testing.T) {
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
		w := orchestrated(t)
		w.putKey("/context/1111/rsync/state/CurrentState/", `"?"`)
		w.settle(prod)
		w.sweep()
		require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
		require.Len(t, w.snapshot(prod).Lifecycle.Prepared, 1)
	})
}

// TestWhatWasPreparedForAnEarlierGroupIsPassedOver: one of the same name has
// come since.
func TestWhatWasPreparedForAnEarlierGroupIsPassedOver(t *testing.T) {
	w := newShop(t)
	w.appContext(firstContext)
	for _, path := range []intent.Path{www(prod), front, prod} {
		require.NoError(t, w.delete(path))
	}
	w.group(prod, "web", "www.lab.example")
	w.rsync(firstContext, "Instantiating")
	settled, err := w.service.StepGroup(t.Context(), prod)
	require.NoError(t, err)
	require.True(t, settled)
	require.Equal(t, intent.Created, w.state(prod))
}

// TestPatchesThatWereLeftInTheMiddleAreSwept, also of contexts that nobody asks
// for again.
func TestPatchesThatWereLeftInTheMiddleAreSwept(t *testing.T) {
	w := newShop(t)
	w.putKey("/signpost/emco/7777/patch", `{"phase":"staging","writes":1,"since":"2020-01-01T00:00:00Z"}`)
	w.putKey("/signpost/emco/7777/patch/00000000/after", "/context/7777/app/web/\n1")
	w.putKey("/signpost/emco/8888/patch", `{"phase":"forward","writes":1,"done":0}`)
	w.putKey("/signpost/emco/8888/patch/00000000/after", "/context/8888/app/web/\n1")
	w.putKey("/signpost/emco/8888/patch/00000000/before", "/context/8888/app/web/\n0")
	w.sweep()
	for key := range w.keys() {
		require.NotContains(t, key, "/signpost/emco/")
	}
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
