package release_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/clusters"
	"github.com/signpost-dns/signpost/pkg/release/state"
	kept "github.com/signpost-dns/signpost/pkg/storage/history"
)

func clusterPath(t testing.TB, name string) intent.Path {
	t.Helper()
	ref, ok := intent.ParseCluster(name)
	require.True(t, ok)
	return ref.Path()
}

func (w *world) drain(cluster string, force bool) error {
	return w.service.Drain(context.Background(), clusterPath(w.TB, cluster), intent.DrainOptions{Force: force, Actor: "alice"})
}

func (w *world) undrain(cluster string) {
	w.Helper()
	require.NoError(w, w.service.Undrain(context.Background(), clusterPath(w.TB, cluster), intent.DrainOptions{Actor: "alice"}))
}

func TestADrainedClusterIsOutOfPublicNamesAtOnce(t *testing.T) {
	t.Parallel()
	w := running(t)
	both := w.published(prod)
	before := w.inClusters()
	release := w.snapshot(prod).Lifecycle.Seq
	require.NoError(t, w.drain(berlin, false))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
	require.Equal(t, before, w.inClusters(), "its objects stay")
	require.Equal(t, release, w.snapshot(prod).Lifecycle.Seq, "within the release")
	require.Equal(t, []intent.Rejection{{
		Target: "203.0.113.10", Cluster: berlin, Object: "Service shop/web", Reason: "the cluster is drained", Code: "Drained", Field: "status.loadBalancer.ingress[0].ip", Kind: "loadBalancer",
	}}, w.snapshot(prod).Choices[0][0].Rejected)

	w.restartOn(w.fake)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod), "a restart forgets nothing")

	w.undrain(berlin)
	w.settle(prod)
	require.Equal(t, both, w.published(prod))
	require.Empty(t, w.snapshot(prod).Choices[0][0].Rejected)
}

func TestAnAddressThatADrainedClusterGetsIsNotPublished(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.NoError(t, w.drain(berlin, false))
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
	w.undrain(berlin)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.20"}, w.published(prod))
}

func TestDrainNeverLeavesANameWithoutAddressUnlessForced(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.NoError(t, w.drain(berlin, false))
	require.NoError(t, w.drain(berlin, false), "again is no other wish")
	err := w.drain(paris, false)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "edge+paris has the last addresses of www.lab.example")
	require.ErrorContains(t, err, "--force (?force=true)")
	w.settle(prod)
	require.Len(t, w.published(prod), 1, "nothing was changed")

	require.NoError(t, w.drain(paris, true))
	w.settle(prod)
	require.Empty(t, w.published(prod))
	w.undrain(paris)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
}

func TestOfTwoDrainsAtOnceTheLaterKnowsOfTheEarlier(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.meanwhile("drained-clusters", func() { require.NoError(t, w.drain(berlin, false)) })
	err := w.drain(paris, false)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
}

// TestDrainOfAClusterThatIsInventoryOnlyIsAConflict: our own lifecycle answers
// 409 and says so. It is abandoned all the same.
func TestDrainOfAClusterThatIsInventoryOnlyIsAConflict(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put("cluster-providers/edge/clusters/rome", `{}`)
	for _, force := range []bool{false, true} {
		err := w.drain("edge+rome", force)
		require.Equal(t, intent.Conflict, intent.CodeOf(err))
		require.ErrorContains(t, err, "cluster edge+rome is inventory only")
		require.ErrorContains(t, err, "nothing to drain")
	}
	found, err := w.service.Drained(context.Background(), clusterPath(t, "edge+rome"))
	require.NoError(t, err)
	require.Nil(t, found)
	w.undrain("edge+rome")
	_, err = w.service.Abandon(context.Background(), clusterPath(t, "edge+rome"), false, "alice")
	require.NoError(t, err)
}

func TestDrainOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.Equal(t, intent.NotFound, intent.CodeOf(w.drain("edge+rome", false)))
	found, err := w.service.Drained(context.Background(), clusterPath(t, berlin))
	require.NoError(t, err)
	require.Nil(t, found)
	require.NoError(t, w.drain(berlin, false))
	found, err = w.service.Drained(context.Background(), clusterPath(t, berlin))
	require.NoError(t, err)
	require.Equal(t, "alice", found.Actor)
	require.False(t, found.Since.IsZero())
}

// TestAGroupTellsOfDrainedClusters in its events, and a name in its own: once for each
// drain and undrain of a cluster that may give them addresses, with who did it.
func TestAGroupTellsOfDrainedClusters(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.do(intent.Instantiate, prod)
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.publish("projects/shop/names/fixed.lab.example", `{"addresses":["203.0.113.99"],"provider":"lab"}`))
	w.settle(prod, bakery)
	require.NoError(t, w.drain(berlin, false))
	w.settle(prod, bakery)
	w.settle(prod, bakery)
	require.NoError(t, w.drain(hub, false), "it gives no addresses")
	w.observe(paris, "shop/web", "203.0.113.21")
	w.settle(prod, bakery)
	w.undrain(berlin)
	w.settle(prod, bakery)
	want := []string{
		"alice drain completed edge+berlin is drained since 2026-11-01T12:00:00Z: public names have none of its addresses",
		"alice undrain completed edge+berlin is drained no longer: public names may have its addresses again",
	}
	require.Equal(t, want, w.drains(prod))
	require.Equal(t, want, w.drains(bakery))
	require.Empty(t, w.drains("projects/shop/names/fixed.lab.example"), "no cluster gives it addresses")
}

// TestADrainHasItsReason in the events of the groups that it touches, and in the document of its cluster.
func TestADrainHasItsReason(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	at := clusterPath(t, berlin)
	require.NoError(t, w.service.Drain(t.Context(), at, intent.DrainOptions{Actor: "alice", Reason: "flood"}))
	w.settle(bakery)
	by, err := w.service.Drained(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, "flood", by.Reason)
	require.NoError(t, w.service.Undrain(t.Context(), at, intent.DrainOptions{Actor: "bob", Reason: "dry again"}))
	w.settle(bakery)
	require.Equal(t, []string{
		"alice drain completed edge+berlin is drained since 2026-11-01T12:00:00Z: public names have none of its addresses; reason: flood",
		"bob undrain completed edge+berlin is drained no longer: public names may have its addresses again; reason: dry again",
	}, w.drains(bakery))
}

// TestTheReasonOfAFailoverIsNotForTenants, who may not read its record: neither events nor histories of names say it. Events
// of groups and names say which failover it was.
func TestTheReasonOfAFailoverIsNotForTenants(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	only := intent.ClusterSelection{Clusters: []string{"edge/berlin"}}
	var ids []string
	for _, spec := range []intent.FailoverSpec{{Drain: only, Reason: "flood"}, {Undrain: only, Reason: "the flood is over"}} {
		moved, err := w.service.FailOver(t.Context(), spec, intent.FailoverOptions{Actor: "olga", Force: true})
		require.NoError(t, err)
		ids = append(ids, moved.ID)
		w.settle(bakery)
	}
	require.Equal(t, []string{
		"olga drain completed edge+berlin is drained since 2026-11-01T12:00:00Z: public names have none of its addresses; failover " + ids[0],
		"olga undrain completed edge+berlin is drained no longer: public names may have its addresses again; failover " + ids[1],
	}, w.drains(bakery))
}

// TestADrainIsToldAlsoIfItsProcessEndedBeforeTheEvent was written: once, by whichever process is there later.
func TestADrainIsToldAlsoIfItsProcessEndedBeforeTheEvent(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	past := kept.New(kept.Options{Documents: w.documents, Lost: func() { t.Error("an event is lost") }, Now: w.clock.Now, Logger: slog.New(slog.DiscardHandler)})
	w.service.Recorder, w.service.Recorded = past.Told, past.Kept
	told := func() (lines []string) {
		page, err := past.All(t.Context(), func(string) bool { return true }, 100, "")
		require.NoError(t, err)
		for _, e := range page.Items {
			if strings.Contains(string(e.Path), "/clusters/") {
				lines = append(lines, strings.Join([]string{e.Actor, string(e.Action), e.Path.Name(), e.Time.Format(time.TimeOnly), e.Message}, " "))
			}
		}
		return lines
	}
	require.NoError(t, w.drain(berlin, true))
	require.NoError(t, w.drain(berlin, true), "it is drained already")
	require.Equal(t, []string{"alice drain berlin 12:00:00 "}, told())

	w.service.Recorder = nil // the process is killed before each event
	w.clock.pass(time.Second)
	require.NoError(t, w.service.Drain(t.Context(), clusterPath(t, paris), intent.DrainOptions{Force: true, Actor: "bob", Reason: "flood"}))
	w.clock.pass(time.Second)
	w.undrain(berlin)
	w.service.Recorder = past.Told
	require.NoError(t, w.service.TellDrains(t.Context(), time.Minute))
	require.Len(t, told(), 1, "it may be about to be told")
	w.clock.pass(time.Minute)
	all := []string{"alice undrain berlin 12:00:02 ", "bob drain paris 12:00:01 flood", "alice drain berlin 12:00:00 "}
	for range 2 {
		require.NoError(t, w.service.TellDrains(t.Context(), time.Minute))
		require.Equal(t, all, told())
	}
	again := clusters.Operator{Store: w.service.Store} // another process
	require.NoError(t, again.TellDrains(t.Context(), time.Minute))
	require.Equal(t, all, told())
	w.service.Recorded = func(context.Context, intent.Path, intent.Event) (bool, error) { return false, nil } // asked before the other wrote
	late := clusters.Operator{Store: w.service.Store}
	require.NoError(t, late.TellDrains(t.Context(), time.Minute))
	require.Equal(t, all, told(), "both have written")
}

// TestAnUndrainIsToldAlsoIfTheClusterWasDrainedAnew before anybody could tell of it.
func TestAnUndrainIsToldAlsoIfTheClusterWasDrainedAnew(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var told []string
	w.service.Recorded = func(context.Context, intent.Path, intent.Event) (bool, error) { return false, nil }
	for range 2 {
		require.NoError(t, w.drain(berlin, true))
		w.clock.pass(time.Second)
		w.undrain(berlin)
		w.clock.pass(time.Second)
	}
	require.NoError(t, w.drain(berlin, true))
	w.clock.pass(time.Minute)
	w.service.Recorder = func(_ context.Context, _ intent.Path, events ...intent.Event) {
		for _, e := range events {
			told = append(told, string(e.Action)+" "+e.Time.Format(time.TimeOnly))
		}
	}
	all := []string{"drain 12:00:04", "drain 12:00:02", "undrain 12:00:03", "drain 12:00:00", "undrain 12:00:01"}
	for range 2 {
		told = nil
		require.NoError(t, w.service.TellDrains(t.Context(), time.Minute))
		require.Equal(t, all, told, "again, until they are kept")
	}
	w.clock.pass(25 * time.Hour)
	w.undrain(berlin)
	list, err := w.service.DrainedClusters(t.Context())
	require.NoError(t, err)
	require.Nil(t, list.Undrained[berlin].Earlier, "after a day that is forgotten")
}

// TestWhatOlderVersionsHaveDoneIsNotToldAgain: they wrote the events of drains with later times.
func TestWhatOlderVersionsHaveDoneIsNotToldAgain(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.NoError(t, w.drain(berlin, true))
	require.NoError(t, w.drain(paris, true))
	w.undrain(paris)
	doc, err := w.documents.Get(t.Context(), state.DrainedPath)
	require.NoError(t, err)
	old := strings.ReplaceAll(string(doc.Body), `,"timed":true`, "")
	require.NotEqual(t, old, string(doc.Body))
	_, err = w.documents.Put(t.Context(), intent.Write{Path: state.DrainedPath, Body: []byte(old), Condition: intent.Always()})
	require.NoError(t, err)
	w.clock.pass(time.Hour)
	var told []string
	w.service.Recorder = func(_ context.Context, cluster intent.Path, events ...intent.Event) {
		told = append(told, string(events[0].Action)+" "+cluster.Name())
	}
	w.service.Recorded = func(context.Context, intent.Path, intent.Event) (bool, error) { return false, nil }
	require.NoError(t, w.service.TellDrains(t.Context(), time.Minute))
	require.Empty(t, told)
	w.clock.pass(24 * time.Hour)
	w.undrain(berlin)
	w.clock.pass(time.Hour)
	told = nil
	require.NoError(t, w.service.TellDrains(t.Context(), time.Minute))
	require.Equal(t, []string{"undrain berlin"}, told, "this version has done that")
}

// drains are the events of an owner that tell of drained clusters, in a line each.
func (w *world) drains(owner intent.Path) []string {
	w.Helper()
	events, err := w.service.Events(context.Background(), owner)
	require.NoError(w, err)
	var lines []string
	for _, e := range events {
		if e.Action == intent.Drain || e.Action == intent.Undrain {
			lines = append(lines, strings.Join([]string{e.Actor, string(e.Action), e.Outcome, e.Message}, " "))
		}
	}
	return lines
}
