package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// suspend writes a group's document with another suspend.
func (w *world) suspend(group intent.Path, suspended bool) {
	w.Helper()
	w.put(group, fmt.Sprintf(`{"logicalCloud":"eu","suspend":%t,"apps":[{"name":"web"}]}`, suspended), eu)
}

func (w *world) pointer(group intent.Path) appcontext.Pointer {
	w.Helper()
	p, err := w.contexts.Current(context.Background(), appcontext.Owner(group))
	require.NoError(w, err)
	return p
}

// TestASuspendedGroupIsLeftAsItIs: from the next step on, without any update;
// nothing shrinks or grows until it is resumed.
func TestASuspendedGroupIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspend(prod, true)
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.observe(paris, "shop/web")
	w.settle(prod)
	require.Equal(t, []string{wwwOnBoth}, w.published(prod), "no address is written, and none is removed")
	require.True(t, w.pointer(prod).Suspended, "the workers are told")
	require.Equal(t, intent.Instantiated, w.state(prod))
	snap := w.snapshot(prod)
	require.True(t, snap.Suspended)
	require.Equal(t, []string{"203.0.113.10", "203.0.113.20"}, snap.Choices[0][0].Targets("A"), "status tells what is kept")
	resting := w.keys()
	w.settle(prod)
	require.Equal(t, resting, w.keys(), "a suspended group costs no write")

	w.suspend(prod, false)
	w.settle(prod)
	require.False(t, w.pointer(prod).Suspended)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11"}, w.published(prod), "what was missed is made up for")
}

// TestWhatIsAcceptedOfASuspendedGroupWaits: for update, rollback and
// instantiate alike.
func TestWhatIsAcceptedOfASuspendedGroupWaits(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.suspend(prod, true)
	plan := w.plan(prod, "")
	require.Contains(t, plan.Warnings, "the deployment intent group is suspended: the release waits until suspend is false")
	require.Empty(t, plan.Errors)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiating, w.state(prod))
	require.Empty(t, w.inClusters())
	require.Empty(t, w.deployment(labOnHub), "not even an external-dns")

	w.suspend(prod, false)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))

	w.suspend(prod, true)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	require.Equal(t, int64(2), w.do(intent.Update, prod).Revision)
	w.settle(prod)
	require.Equal(t, intent.Updating, w.state(prod))
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
	require.Equal(t, int64(3), w.rollback(1).Revision, "even before it has come to anything")
	w.suspend(prod, false)
	w.settle(prod)
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
}

// TestTerminateDoesNotWaitForASuspendedGroup: it was asked for, after all.
func TestTerminateDoesNotWaitForASuspendedGroup(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspend(prod, true)
	w.settle(prod)
	require.NotContains(t, fmt.Sprint(w.plan(prod, intent.Terminate).Warnings), "suspended")
	w.do(intent.Terminate, prod)
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.inClusters())
	require.False(t, w.pointer(prod).Suspended)
	require.False(t, w.snapshot(prod).Suspended, "nothing is there to be kept")
}

// TestASuspendedGroupKeepsItsExternalDNS: others come and go, and it stays in
// use.
func TestASuspendedGroupKeepsItsExternalDNS(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.group(test, "api", "api.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	w.suspend(prod, true)
	w.do(intent.Terminate, test)
	w.outlive()
	w.settle(prod, test)
	require.Equal(t, intent.Terminated, w.state(test))
	require.NotEmpty(t, w.deployment(labOnHub))
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
}

// TestSuspensionSurvivesCrashes: wherever a process dies while a group is
// suspended, changed and resumed, the next one brings it to where it would
// have been (I1).
func TestSuspensionSurvivesCrashes(t *testing.T) {
	t.Parallel()
	tell := func(l *life) {
		l.ask("instantiate", intent.Instantiate, prod)
		l.part(l.rest)
		l.suspend(prod, true)
		l.part(l.rest)
		l.observe(berlin, "shop/web", "203.0.113.11")
		l.ask("update", intent.Update, prod)
		l.part(l.rest)
		require.Equal(l, []string{wwwOnBoth}, l.published(prod))
		l.suspend(prod, false)
		l.part(l.rest)
	}
	undisturbed := newLife(newShop(t), 0, false)
	tell(undisturbed)
	deaths(t, undisturbed.process.writes, func(last int, after bool) {
		l := newLife(newShop(t), last, after)
		tell(l)
		require.Equal(t, undisturbed.picture(), l.picture(), "write %d, after it: %t", last, after)
	})
}

// suspendLab suspends the record by its document, and brings that to its
// external-dns.
func (w *world) suspendLab(suspended bool) {
	w.Helper()
	w.put(lab, record("lab.example", fmt.Sprintf(`,"suspend":%t`, suspended)))
	_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	require.NoError(w, err)
}

// TestASuspendedRecordRunsNoExternalDNS: as everything of a record, by its
// update; the DNSEndpoints go on, and are taken up when it is resumed.
func TestASuspendedRecordRunsNoExternalDNS(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(lab, record("lab.example", `,"suspend":true`))
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"replicas":1`, "changing a record changes nothing that is deployed")
	w.suspendLab(true)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"replicas":0`)

	require.Contains(t, fmt.Sprint(w.plan(prod, intent.Update).Warnings), `provider "lab" is suspended`)
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "203.0.113.11")
	w.suspendLab(false)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"replicas":1`)
}

// TestTerminateDoesNotWaitForASuspendedRecord: its external-dns would never
// delete the names, so they are told at once.
func TestTerminateDoesNotWaitForASuspendedRecord(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspendLab(true)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod), "no time had to pass")
	require.Equal(t, []intent.Leftover{{Name: "www.lab.example", Type: "A", Record: "lab", Reason: "the provider is suspended, so its external-dns deletes nothing"}},
		w.snapshot(prod).Lifecycle.Leftovers)
	require.Empty(t, w.inClusters())
}

// TestSuspendingARecordEndsTheWaitForItsNames: what was to outlive them does
// nothing any more.
func TestSuspendingARecordEndsTheWaitForItsNames(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod))
	w.suspendLab(true)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Contains(t, strings.Join(w.reasons(prod), ""), "suspended")
}

func (w *world) reasons(group intent.Path) []string {
	w.Helper()
	var out []string
	for _, l := range w.snapshot(group).Lifecycle.Leftovers {
		out = append(out, l.Reason)
	}
	return out
}
