package release_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// books is all that the store has of removals.
func (w *world) books() string {
	w.Helper()
	var all strings.Builder
	for _, prefix := range []string{"/signpost/removals/", "/signpost/removed/", "/signpost/permits/"} {
		items, _, err := w.fake.Range(w.Context(), kv.Range{Prefix: prefix})
		require.NoError(w, err)
		for _, item := range items {
			fmt.Fprintf(&all, "%s = %s\n", item.Key, item.Value)
		}
	}
	return all.String()
}

// beforeWrite has something happen once, before a write to a key that contains a text while the books contain another one. If that
// fails, so does all that follows.
func (w *world) beforeWrite(key, books string, do func() error) (happened *bool) {
	happened = new(bool)
	var mu sync.Mutex
	busy, failed := false, error(nil)
	w.fake.Before = func(op, at string) error {
		mu.Lock()
		if busy || *happened || op != "txn" || !strings.Contains(at, key) {
			defer mu.Unlock()
			return failed
		}
		busy = true
		mu.Unlock()
		if strings.Contains(w.books(), books) {
			*happened, failed = true, do()
		}
		busy = false
		return failed
	}
	return happened
}

// TestGroupsThatGiveTheSameNamesDoNotLoseThemAtOnce: each may give them up because of the other one.
func TestGroupsThatGiveTheSameNamesDoNotLoseThemAtOnce(t *testing.T) {
	t.Parallel()
	names, w := numbered(20, "lab.example"), newMall(t)
	w.put(test, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	w.put(test.Child("traffic-group-intents", "front"), `{}`)
	for _, name := range names {
		service, _, _ := strings.Cut(name, ".")
		w.put(test.Child("traffic-group-intents", "front").Child("dns-intents", service), fmt.Sprintf(`{"app":"web","serviceName":%q,"hostnames":[%q]}`, service, name))
	}
	w.do(intent.Instantiate, test)
	w.settle(test, prod)
	require.Len(t, w.published(test), len(names))
	w.shut(names...)
	both := w.beforeWrite("/context/", "", func() error { return w.step(test) })
	_ = w.step(prod) // it has to look again
	require.True(t, *both)
	w.fake.Before = nil
	w.settle(prod, test)
	require.Len(t, w.published(prod), len(names))
}

// TestHeldNamesThatNobodyTellsOfAreTakenBack: a step that held names died before its lifecycle told so, and then nothing held
// them any more. No other name of the provider could go otherwise.
func TestHeldNamesThatNobodyTellsOfAreTakenBack(t *testing.T) {
	t.Parallel()
	names, w := numbered(20, "lab.example"), newMall(t)
	w.shut(names[:12]...)
	died := w.beforeWrite("lifecycle//"+string(prod), `"held"`, func() error { return &intent.Error{Code: intent.Unavailable, Detail: "dead"} })
	require.Error(t, w.step(prod))
	require.True(t, *died)
	w.fake.Before = nil
	w.open(names...)
	w.settle(prod)
	require.Empty(t, w.stored(prod).Retained)
	require.Contains(t, w.books(), `"held":12`)
	for range 2 {
		w.clock.pass(time.Minute)
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	}
	require.NotContains(t, w.books(), `"held"`)
}

// TestHeldNamesThatAreToldOfStay, however often removals are swept.
func TestHeldNamesThatAreToldOfStay(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	w.shut(numbered(12, "lab.example")...)
	w.settle(prod)
	for range 3 {
		w.clock.pass(guard.Window)
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	}
	require.Contains(t, w.books(), `"held":12`)
}

// TestPermitsOfRequestsThatCameToNothingGo, once they have been found twice.
func TestPermitsOfRequestsThatCameToNothingGo(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	w.shut(numbered(12, "lab.example")...)
	w.settle(prod)
	w.names(numbered(19, "lab.example")...)
	plan, err := w.service.Plan(t.Context(), prod, intent.Update, 0)
	require.NoError(t, err)
	lost := w.beforeWrite("lifecycle//"+string(prod), "/signpost/permits/", func() error { return &intent.Error{Code: intent.Unavailable, Detail: "dead"} })
	_, err = w.tryGuarded(intent.Update, plan.Token)
	require.Error(t, err)
	require.True(t, *lost)
	w.fake.Before = nil
	require.Contains(t, w.books(), "/signpost/permits/")
	for range 2 {
		w.clock.pass(time.Minute)
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	}
	require.NotContains(t, w.books(), "/signpost/permits/")
	require.Contains(t, w.books(), `"held":12`)
}

// TestThePlanOfAMoveTellsWhatAnotherRuleTakesAway: a provider moves, and refuses some addresses from now on.
func TestThePlanOfAMoveTellsWhatAnotherRuleTakesAway(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.100/30"]},"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	told := map[string]int{}
	for _, name := range plan.Names {
		told[name.Action]++
	}
	require.Equal(t, 4, told["delete"], "%v", plan.Names)
	require.Contains(t, strings.Join(plan.Warnings, "\n"), "is left to publish")
	objects := map[string]int{}
	for _, o := range plan.Objects {
		objects[o.Action+o.Cluster+o.Kind+o.Name]++
	}
	for object, times := range objects {
		require.Equal(t, 1, times, object)
	}
	_, err = w.tryGuarded("", plan.Token)
	require.NoError(t, err)
	w.outlive()
	w.outlive()
	require.Len(t, w.published(prod), 16)
}

// TestStepsThatNeedACountWaitForOne of all names of their provider.
func TestStepsThatNeedACountWaitForOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const together = 8
		w, _, all := manyNames(t, 100)
		for _, cluster := range []string{berlin, paris} {
			writer, err := w.observed.Writer(t.Context(), cluster, fence)
			require.NoError(t, err)
			require.NoError(t, writer.SetService(t.Context(), "shop", "front", address.Observation{}))
		}
		for _, name := range all[:guard.Few] {
			require.NoError(t, w.step(name))
		}
		var counts atomic.Int32
		w.fake.Before = func(op, key string) error {
			if op == "range" && key == "/signpost/removed/"+string(lab)+"//" && counts.Add(1) == 1 {
				synctest.Wait() // until the others wait for it, or have counted themselves
			}
			return nil
		}
		var steps sync.WaitGroup
		for _, name := range all[guard.Few:][:together] {
			steps.Go(func() { _, _ = w.service.StepGroup(t.Context(), name) })
		}
		steps.Wait()
		require.EqualValues(t, 1, counts.Load())
	})
}

// TestARefusedConfirmationRemovesNothing: a step changes what the plan says before the confirmation is written.
func TestARefusedConfirmationRemovesNothing(t *testing.T) {
	t.Parallel()
	names, w := numbered(20, "lab.example"), newMall(t)
	w.shut(names[:12]...)
	w.settle(prod)
	plan := w.plan(prod, intent.Update)
	w.meanwhile("lifecycle//"+string(prod), func() {
		w.shut(names[12])
		require.NoError(t, w.step(prod))
	})
	_, err := w.try(intent.Update, prod, plan.Token)
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	w.settle(prod)
	require.Len(t, w.published(prod), 20)
}

// TestAPermitIsUsedOnce, also if the step that uses it can write no lifecycle.
func TestAPermitIsUsedOnce(t *testing.T) {
	t.Parallel()
	names, w := numbered(20, "lab.example"), newMall(t)
	w.shut(names[:12]...)
	w.names(numbered(19, "lab.example")...)
	_, err := w.tryGuarded(intent.Update, w.plan(prod, intent.Update).Token)
	require.NoError(t, err)
	w.beforeWrite("lifecycle//"+string(prod), "", func() error { return &intent.Error{Code: intent.Unavailable, Detail: "dead"} })
	_ = w.step(prod)
	w.fake.Before = nil
	w.restartOn(w.fake)
	w.settle(prod)
	w.open(names...)
	w.settle(prod)
	require.Len(t, w.published(prod), 19)
	w.shut(names[:12]...)
	w.settle(prod)
	require.Len(t, w.published(prod), 19)
}

// TestAPermitThatNoStepUsesIsForgotten: the update of a provider was to remove names, and they have an address again.
func TestAPermitThatNoStepUsesIsForgotten(t *testing.T) {
	t.Parallel()
	names, w := numbered(20, "lab.example"), newMall(t)
	permit := guard.Permit{For: w.snapshot(prod).Lifecycle.ContextID, Names: names[:12]}
	require.NoError(t, w.service.Guard.Permit(t.Context(), lab, map[intent.Path]guard.Permit{prod: permit}))
	for range 2 {
		require.Contains(t, w.books(), "/signpost/permits/")
		w.clock.pass(time.Minute)
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	}
	w.shut(names[:12]...)
	w.settle(prod)
	require.Len(t, w.published(prod), 20)
}
