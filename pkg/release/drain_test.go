package release_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// hear has the worker of the hub write what authoritative servers answer to the
// name of group prod.
func (w *world) hear(endpoint, verdict, message string, gone time.Time) {
	w.Helper()
	w.hearOn(hub, endpoint, verdict, message, gone)
}

func (w *world) hearOn(cluster, endpoint, verdict, message string, gone time.Time) {
	w.Helper()
	writer, err := w.observed.Writer(w.Context(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetAnswers(w.Context(), map[string]*observed.Answers{"shop-dns/" + endpoint: {
		Project: "shop", Record: "lab", Scope: "public", Gone: gone,
		Names: []observed.NameAnswer{{Name: "www.lab.example", Type: "A", Targets: []string{"203.0.113.10"}, Verdict: verdict, Message: message, Since: w.clock.Now()}},
	}}))
}

// publishedBy is the DNSEndpoint of group prod.
func (w *world) publishedBy() string {
	snap := w.snapshot(prod)
	return endpoints.Name(snap.Group, snap.Group.Bindings[0])
}

// TestTerminateEndsWhenNoAuthoritativeServerAnswersAnyMore: long before the
// releaseTimeout.
func TestTerminateEndsWhenNoAuthoritativeServerAnswersAnyMore(t *testing.T) {
	t.Parallel()
	w := running(t)
	endpoint := w.publishedBy()
	w.hear(endpoint, "Matches", "192.0.2.53:53 answers 203.0.113.10", time.Time{})
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod), "external-dns outlives the names")
	w.hear(endpoint, "StillThere", "192.0.2.53:53 still answers 203.0.113.10", time.Time{})
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod), "a server still answers")
	w.hear(endpoint, "Unreachable", "192.0.2.53:53 does not answer", time.Time{})
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod), "a server that does not answer removes nothing (I6)")

	w.hear(endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now())
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod), "without a second passing")
	require.Empty(t, w.snapshot(prod).Lifecycle.Leftovers)
	require.Empty(t, w.inClusters())
}

// TestWhatWasHeardBeforeDoesNotCount: the names had gone once, came back, and go
// again.
func TestWhatWasHeardBeforeDoesNotCount(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.hear(w.publishedBy(), "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now())
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod))
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
}

// TestAFastClockDoesNotLengthenADrain: the replica that began it may be ahead of the others.
func TestAFastClockDoesNotLengthenADrain(t *testing.T) {
	t.Parallel()
	w := running(t)
	const ahead = 4 * time.Minute
	w.clock.pass(ahead)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod))
	w.clock.pass(-ahead)
	require.NoError(t, w.rest())
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
}

// TestLeftoversAreWhatIsStillAnsweredAtTheDeadline, with the server and its
// answer; nothing is claimed of what could not be asked (I6).
func TestLeftoversAreWhatIsStillAnsweredAtTheDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict, message string
		left             []intent.Leftover
	}{
		{"StillThere", "192.0.2.53:53 still answers 203.0.113.10", []intent.Leftover{{
			Name: "www.lab.example", Type: "A", Record: "lab", Reason: "192.0.2.53:53 still answers 203.0.113.10 though nobody publishes the name any more",
		}}},
		{"Foreign", "192.0.2.53:53 answers 203.0.113.10, which belongs to another external-dns", nil},
		{"Unreachable", "192.0.2.53:53 does not answer", nil},
		{"Gone", "192.0.2.53:53 no longer answers the targets", nil}, // and may still come: it was never seen
	} {
		w := running(t)
		endpoint := w.publishedBy()
		w.do(intent.Terminate, prod)
		require.NoError(t, w.rest())
		w.hear(endpoint, c.verdict, c.message, time.Time{})
		require.NoError(t, w.rest())
		require.Equal(t, intent.Terminating, w.state(prod), c.verdict)
		w.outlive()
		w.settle(prod)
		require.Equal(t, intent.Terminated, w.state(prod), c.verdict)
		require.Equal(t, c.left, w.snapshot(prod).Lifecycle.Leftovers, c.verdict)
	}
}

// TestANameOfSomebodyElseIsNoLeftover, nor one that no server has any more,
// though external-dns deletes nothing.
func TestANameOfSomebodyElseIsNoLeftover(t *testing.T) {
	t.Parallel()
	for verdict, left := range map[string]int{"Matches": 1, "Differs": 1, "Unreachable": 1, "StillThere": 1, "Foreign": 0, "Gone": 0} {
		w := running(t)
		w.suspendLab(true)
		w.settle(prod)
		w.hear(w.publishedBy(), verdict, "192.0.2.53:53 says so", time.Time{})
		w.do(intent.Terminate, prod)
		w.settle(prod)
		require.Equal(t, intent.Terminated, w.state(prod))
		require.Len(t, w.snapshot(prod).Lifecycle.Leftovers, left, verdict)
	}
}

// TestALeftoverThatTwoAppServicesGaveIsListedOnce, with each reason once.
func TestALeftoverThatTwoAppServicesGaveIsListedOnce(t *testing.T) {
	t.Parallel()
	w := giveTwice(t, ``)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.suspendLab(true)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	w.settle(prod)
	require.Equal(t, []intent.Leftover{{Name: "www.lab.example", Type: "A", Record: "lab", Reason: "the provider is suspended, so its external-dns deletes nothing"}},
		w.snapshot(prod).Lifecycle.Leftovers)
}

// TestHowNamesAreVerifiedFollowsTheRecord: the worker finds it beside the
// external-dns, and an update of the record changes it there alone.
func TestHowNamesAreVerifiedFollowsTheRecord(t *testing.T) {
	t.Parallel()
	w := running(t)
	pointer, err := w.contexts.Current(t.Context(), providerOwner(labOnHub))
	require.NoError(t, err)
	require.Equal(t, &appcontext.Verify{InDNS: externaldns.InDNS{Owner: w.snapshot(prod).Providers[0].OwnerID}}, pointer.Verify)

	w.put(lab, record("lab.example", `,"verify":{"servers":["192.0.2.53:53"]}`))
	before := w.bundle(providerOwner(labOnHub))
	w.updateRecord(lab)
	w.settle(prod)
	pointer, err = w.contexts.Current(t.Context(), providerOwner(labOnHub))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.53:53"}, pointer.Verify.Servers)
	require.Equal(t, before, w.bundle(providerOwner(labOnHub)), "external-dns itself stays as it is")
	keys := w.keys()
	w.settle(prod)
	require.Equal(t, keys, w.keys(), "and it is written once")
}

// TestAKillWhileNamesAreRemovedDelaysNothing: when the external-dns goes at the latest is
// told, and it is the same after a restart. With the defaults of the record that is minutes.
func TestAKillWhileNamesAreRemovedDelaysNothing(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, hastyRecord("coredns"))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	until := w.snapshot(prod).Providers[0].Until
	require.Equal(t, w.clock.Now().Add(4*time.Minute), until, "an interval for each of two targets, one to spare, and a minute")

	w.clock.pass(80 * time.Second)
	w.restartOn(w.fake)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod))
	require.Equal(t, until, w.snapshot(prod).Providers[0].Until)
	w.clock.pass(until.Sub(w.clock.Now()))
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
}
