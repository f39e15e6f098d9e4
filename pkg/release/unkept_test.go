package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// newlyNamed is prod, in its second context: the first was made before the
// group's intents named Signpost.
func newlyNamed(t *testing.T) *world {
	w := newShop(t)
	w.writeContext(firstContext)
	w.tell(firstContext, "Instantiate", "")
	w.rsync(firstContext, "Instantiated")
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.replace(firstContext, secondContext)
	w.event(secondContext, intent.Update)
	w.settle(prod)
	return w
}

// message is what the status of prod says of what stands in the way.
func (w *world) message() string {
	w.Helper()
	return status.Of(w.snapshot(prod)).Message
}

// outcomes are the events of prod with an outcome.
func (w *world) outcomes(outcome string) []string {
	w.Helper()
	events, err := w.service.Events(w.Context(), prod)
	require.NoError(w, err)
	var out []string
	for _, e := range events {
		if e.Outcome == outcome {
			out = append(out, fmt.Sprint(e.Actor, " ", e.Action, " ", e.Revision, ": ", e.Message))
		}
	}
	return out
}

const unkept = "EMCO's app context 1111 is current and not followed: no release is kept for it, so names stay as app context 2222 has them; update the deployment intent group at EMCO's orchestrator"

// TestARollbackToAContextThatNoReleaseIsKeptForIsTold, whether its event comes,
// or its states, or both; names stay, for withdrawing them would be a guess.
func TestARollbackToAContextThatNoReleaseIsKeptForIsTold(t *testing.T) {
	t.Parallel()
	for name, roll := range map[string]func(*world){
		"event": func(w *world) { w.tell(firstContext, "Update", secondContext); w.event(firstContext, intent.Update) },
		"event, where rsync has no queue": func(w *world) {
			w.remove("/context/1111/rsync/AppContextEventQueue/")
			w.remove("/context/2222/rsync/AppContextEventQueue/")
			w.event(firstContext, intent.Update)
		},
		"states": func(w *world) { w.replace(secondContext, firstContext) },
		"both":   func(w *world) { w.event(firstContext, intent.Update); w.replace(secondContext, firstContext) },
		"twice": func(w *world) {
			w.replace(secondContext, firstContext)
			w.settle(prod)
			w.event(firstContext, intent.Update)
			w.event(firstContext, intent.Update)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newlyNamed(t)
			require.Empty(t, w.message())
			roll(w)
			w.settle(prod)
			require.NoError(t, w.rest())
			require.Equal(t, "Instantiated 2222 "+twoOf, w.current())
			require.Equal(t, unkept, w.message())
			require.Equal(t, []string{"emco update 1: " + unkept}, w.outcomes("failed"), "once")

			w.serve("three.lab.example")
			w.appContext(thirdContext)
			w.event(thirdContext, intent.Update)
			w.replace(firstContext, thirdContext)
			w.settle(prod)
			require.Contains(t, w.current(), "Instantiated 3333")
			require.Empty(t, w.message(), "EMCO's update ends that")
		})
	}
}

// TestEMCOComesBackFromAContextThatNoReleaseIsKeptFor to the group's own.
func TestEMCOComesBackFromAContextThatNoReleaseIsKeptFor(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(*world){
		"event":  func(w *world) { w.event(secondContext, intent.Update) },
		"states": func(w *world) { w.replace(firstContext, secondContext) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newlyNamed(t)
			w.replace(secondContext, firstContext)
			w.event(firstContext, intent.Update)
			w.settle(prod)
			w.tell(secondContext, "Update", firstContext)
			back(w)
			w.settle(prod)
			require.Empty(t, w.message())
			require.Equal(t, int64(1), w.snapshot(prod).Lifecycle.Seq)
		})
	}
}

// TestTheEndOfAContextThatNoReleaseIsKeptForEndsTheGroup: names and external-dns
// do not stay for ever.
func TestTheEndOfAContextThatNoReleaseIsKeptForEndsTheGroup(t *testing.T) {
	t.Parallel()
	terminate := func(w *world) { require.NoError(w, w.service.TerminateContext(w.Context(), firstContext)) }
	for name, end := range map[string]func(*world){
		"TerminateAppContext": terminate,
		"its event":           func(w *world) { w.event(firstContext, intent.Terminate) },
		"states":              func(w *world) { w.tell(firstContext, "Terminate", ""); w.rsync(firstContext, "Terminating") },
	} {
		for begun, roll := range map[string]func(*world){
			"an event has told": func(w *world) { w.tell(firstContext, "Update", secondContext); w.event(firstContext, intent.Update) },
			"an event has told, and rsync has no queue": func(w *world) {
				w.remove("/context/1111/rsync/AppContextEventQueue/")
				w.remove("/context/2222/rsync/AppContextEventQueue/")
				w.rsync(firstContext, "Instantiated")
				w.event(firstContext, intent.Update)
			},
			"rsync has begun": func(w *world) { w.replace(secondContext, firstContext) },
			"two of them": func(w *world) {
				w.writeContext(thirdContext)
				w.replace(secondContext, thirdContext)
				w.settle(prod)
				w.replace(thirdContext, firstContext)
			},
		} {
			t.Run(name+", "+begun, func(t *testing.T) {
				t.Parallel()
				w := newlyNamed(t)
				roll(w)
				w.settle(prod)
				end(w)
				w.outlive()
				require.Contains(t, w.current(), "Terminated ")
				require.Empty(t, w.published(prod))
				require.Empty(t, w.inClusters())
				require.Empty(t, w.message())
				w.event(secondContext, intent.Update)
				require.Equal(t, intent.Terminated, w.state(prod), "what is late brings nothing back")
			})
		}
	}
	t.Run("rsync was told, and has not begun", func(t *testing.T) {
		t.Parallel()
		w := newlyNamed(t)
		w.tell(firstContext, "Update", secondContext)
		terminate(w)
		require.Equal(t, intent.Terminating, w.state(prod))
	})
	t.Run("the group's own is gone", func(t *testing.T) {
		t.Parallel()
		w := newlyNamed(t)
		w.vanish(secondContext)
		terminate(w)
		require.Equal(t, intent.Terminating, w.state(prod))
	})
	t.Run("not while the group's own is current", func(t *testing.T) {
		t.Parallel()
		w := newlyNamed(t)
		before := w.keys()
		terminate(w)
		w.event(firstContext, intent.Terminate)
		w.event(firstContext, intent.Update) // rsync has been told since that it is replaced
		require.Equal(t, before, w.keys())
		w.tell(firstContext, "Terminate", "")
		before = w.keys()
		w.event(firstContext, intent.Update)
		require.Equal(t, before, w.keys(), "it is history")
	})
}

// TestWhatEMCOAsksForIsInTheEventsOfTheGroup: its users need not have EMCO's log.
func TestWhatEMCOAsksForIsInTheEventsOfTheGroup(t *testing.T) {
	t.Parallel()
	t.Run("warnings", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.put(www(prod), `{"app":"web","serviceName":"nosuch","hostnames":["www.lab.example"]}`)
		w.writeContext(firstContext)
		warnings, err := w.call(firstContext)
		require.NoError(t, err)
		require.NotEmpty(t, warnings)
		_, err = w.call(firstContext)
		require.NoError(t, err)
		told := w.outcomes("prepared")
		require.Len(t, told, 1, "once")
		require.Contains(t, told[0], "emco instantiate 0: app context 1111: prepared for traffic group front; warnings: ")
		require.Contains(t, told[0], warnings[0])
	})
	t.Run("a refusal", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.serve("www.other.example")
		w.writeContext(firstContext)
		for range 2 {
			_, err := w.call(firstContext)
			require.Error(t, err)
		}
		told := w.outcomes("refused")
		require.Len(t, told, 1, "once")
		require.Contains(t, told[0], "emco instantiate 0: app context 1111 stays as it is")
		require.Contains(t, told[0], `no provider serves "www.other.example"`)
		require.Equal(t, intent.Created, w.state(prod))
		w.serve("www.lab.example")
		w.appContext(firstContext)
		w.serve("www.other.example")
		_, err := w.call(firstContext)
		require.Error(t, err)
		require.Len(t, w.outcomes("refused"), 2, "it is news again")
	})
	t.Run("a refusal of a hundred reasons", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		for n := range 100 {
			w.put(front.Child("dns-intents", fmt.Sprint("of", n)), fmt.Sprintf(`{"app":"none","serviceName":"api","hostnames":["api%d.lab.example"]}`, n))
		}
		w.writeContext(firstContext)
		_, err := w.call(firstContext)
		require.Error(t, err)
		require.Less(t, len(w.outcomes("refused")[0]), 2100)
	})
	t.Run("a refusal of nobody's group", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		require.NoError(t, w.delete(www(prod)))
		require.NoError(t, w.delete(front))
		require.NoError(t, w.delete(prod))
		w.writeContext(firstContext)
		before := w.keys()
		_, err := w.call(firstContext)
		require.Error(t, err)
		require.Equal(t, before, w.keys())
	})
	t.Run("a context that rsync has refused", func(t *testing.T) {
		t.Parallel()
		w := orchestrated(t)
		w.serve("two.lab.example")
		w.appContext(secondContext)
		w.vanish(secondContext)
		w.sweep()
		require.Equal(t, []string{"emco update 1: app context 2222: EMCO has deleted it, so its prepared release is dropped"}, w.outcomes("dropped"))
	})
}
