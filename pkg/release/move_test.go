package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

var labOnParis = state.Use{Record: lab, Scope: intent.Public, Cluster: paris}

const wwwOnParis = "edge+paris lab/public: www.lab.example A 203.0.113.10,203.0.113.20"

// settleOn has the document of the record lab say where it is to live.
func (w *world) settleOn(cluster string) {
	w.Helper()
	w.put(lab, record("lab.example", fmt.Sprintf(`,"deployOn":{"clusterProvider":"edge","cluster":%q}`, cluster)))
}

func (w *world) moveTo(cluster string) error {
	w.Helper()
	w.settleOn(cluster)
	_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	return err
}

// holds says whether the ledger holds an object of a kind and name's beginning
// on a cluster.
func (w *world) holds(cluster, kind, name string) bool {
	w.Helper()
	for _, line := range w.inClusters() {
		if strings.HasPrefix(line, cluster+" "+kind+" "+name) {
			return true
		}
	}
	return false
}

func (w *world) runs(use state.Use) bool {
	w.Helper()
	return strings.Contains(w.deployment(use), `"replicas":1`)
}

// guardMove checks at every write that two external-dns never run for one
// record, and that none runs where a name is missing.
func (w *world) guardMove() {
	looking := false
	w.fake.After = func(op, _ string) error {
		if op != "txn" || looking {
			return nil
		}
		looking = true
		defer func() { looking = false }()
		if w.holds(hub, "Deployment", "external-dns-lab") {
			require.False(w, w.runs(labOnParis), "the old one is stopped before the new one starts")
			require.True(w, w.holds(hub, "DNSEndpoint", "web-web-"), "no name goes while the old one may still run")
		}
		if w.runs(labOnParis) {
			require.True(w, w.holds(paris, "DNSEndpoint", "web-web-"), "the new one starts when the names are there")
		}
		return nil
	}
}

func TestARecordMovesByItsUpdateAndItsNamesFollow(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.settleOn("paris")
	w.settle(prod)
	require.True(t, w.runs(labOnHub), "changing a record changes nothing that is deployed")
	w.guardMove()
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	w.fake.After = nil
	require.True(t, w.runs(labOnParis))
	require.Equal(t, []string{wwwOnParis}, w.published(prod))
	require.Equal(t, []state.Use{labOnParis}, w.snapshot(prod).Lifecycle.Uses)
	require.Equal(t, intent.Instantiated, w.state(prod))
	for _, line := range w.inClusters() {
		require.NotContains(t, line, hub)
	}
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	require.Equal(t, paris, snap.Lifecycle.Record.Home.String())
	require.NoError(t, w.delete("cluster-providers/edge/clusters/hub"), "nothing holds the former home any more")
}

// TestARecordMovesThereAndBack: even before the first home is cleared.
func TestARecordMovesThereAndBack(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.NoError(t, w.moveTo("paris"))
	for range rounds {
		if len(w.snapshot(prod).Lifecycle.RemovedClusters) > 0 {
			break
		}
		w.applyAll()
		require.NoError(t, w.step(lab))
		require.NoError(t, w.step(prod))
	}
	require.NoError(t, w.moveTo("hub"))
	w.settle(prod)
	require.True(t, w.runs(labOnHub))
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
	for _, line := range w.inClusters() {
		require.NotContains(t, line, paris)
	}
}

// TestTheOwnerIDMovesAlong: it is what makes the names the new one's.
func TestTheOwnerIDMovesAlong(t *testing.T) {
	t.Parallel()
	w := running(t)
	id := ownerArgument(w.deployment(labOnHub))
	require.NotEmpty(t, id)
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	require.Equal(t, id, ownerArgument(w.deployment(labOnParis)))
}

func ownerArgument(deployment string) string {
	_, after, _ := strings.Cut(deployment, "--txt-owner-id=")
	id, _, _ := strings.Cut(after, `"`)
	return id
}

func TestAMoveWaitsForAHomeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.down[hub] = true
	w.guardMove()
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.rest())
	require.False(t, w.runs(labOnParis), "whether the old one has stopped is not known")
	require.NotEmpty(t, w.deployment(labOnParis))
	snap := w.snapshot(prod)
	require.True(t, snap.Providers[0].Waiting)

	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	w.refuses(intent.Update, prod, "the provider is moving to edge+paris")
	require.ErrorContains(t, w.moveTo("berlin"), "cannot be updated")
	w.settleOn("paris")

	delete(w.down, hub)
	w.settle(prod)
	require.True(t, w.runs(labOnParis))
	w.fake.After = nil
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "edge+paris lab/public: shop.lab.example")
}

// TestAMoveWaitsForEveryGroup: the new external-dns would remove the names of
// the one that is missing.
func TestAMoveWaitsForEveryGroup(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.step(lab))
	w.applyAll()
	for range 5 {
		require.NoError(t, w.step(prod))
		w.applyAll()
	}
	require.Len(t, w.published(prod), 2, "in both homes meanwhile")
	require.False(t, w.runs(labOnParis))
	w.settle(prod, test)
	require.True(t, w.runs(labOnParis))
	require.Len(t, w.published(prod), 1)
	require.Len(t, w.published(test), 1)
}

func TestASuspendedGroupHoldsAMoveUp(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspend(prod, true)
	w.settleOn("paris")
	before := w.keys()
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(plan.Errors), string(prod)+" uses the provider and is suspended")
	require.Error(t, func() error { _, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann"); return err }())
	require.Equal(t, before, w.keys())
}

func TestThePlanOfAMove(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.settleOn("paris")
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Empty(t, plan.Errors)
	require.Equal(t, []intent.NameChange{{Name: "www.lab.example", Type: "A", Record: "lab", Action: "unchanged", Targets: []string{"203.0.113.10", "203.0.113.20"}, Before: []string{"203.0.113.10", "203.0.113.20"}}}, plan.Names)
	told := strings.Join(actions(plan), "\n")
	for _, line := range []string{
		"delete edge+hub Deployment external-dns-lab", "create edge+paris Deployment external-dns-lab",
		"delete edge+hub DNSEndpoint web-web-", "create edge+paris DNSEndpoint web-web-",
	} {
		require.Contains(t, told, line)
	}
}

// TestATerminationDuringAMoveRemovesTheNames: the external-dns starts at its
// new home to do that, and goes.
func TestATerminationDuringAMoveRemovesTheNames(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.down[hub] = true
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.rest())
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	delete(w.down, hub)
	require.NoError(t, w.rest())
	require.True(t, w.runs(labOnParis))
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.inClusters())
}

// TestATerminationRightAfterAMoveWasAskedFor: even if the group has not
// followed yet.
func TestATerminationRightAfterAMoveWasAskedFor(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.NoError(t, w.moveTo("paris"))
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.True(t, w.runs(labOnParis), "it removes the names")
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.inClusters())
	require.NoError(t, w.delete(lab), "nothing holds the record")
}

// TestTerminatedWaitsForTheExternalDNSInWhicheverHome: however far a move has
// come when the last user is terminated, and also when it begins after that.
func TestTerminatedWaitsForTheExternalDNSInWhicheverHome(t *testing.T) {
	t.Parallel()
	const far = 12 // turns, after which a move is over
	for before := -3; before <= far; before++ {
		w := running(t)
		if before < 0 {
			w.do(intent.Terminate, prod)
			w.turns(-before)
		}
		require.NoError(t, w.moveTo("paris"))
		if before >= 0 {
			w.turns(before)
			w.do(intent.Terminate, prod)
		}
		ended := false
		for range rounds {
			w.turns(1)
			w.clock.pass(10 * time.Second)
			if ended = w.state(prod) == intent.Terminated; ended {
				require.Empty(t, w.inClusters(), "terminated after %d turns of the move", before)
				require.NoError(t, w.delete(lab), "the record was let go of, %d turns", before)
				break
			}
			if w.runs(labOnParis) {
				require.Equal(t, labOnParis, w.snapshot(prod).Providers[0].Use, "status shows what it waits for, %d turns", before)
			}
		}
		require.True(t, ended, "terminated after %d turns of the move", before)
	}
}

// turns has the group, the record and the clusters each take their turn, so
// often.
func (w *world) turns(n int) {
	w.Helper()
	for range n {
		require.NoError(w, w.step(prod))
		w.applyAll()
		require.NoError(w, w.step(prod))
		require.NoError(w, w.step(lab))
	}
}

// TestAMoveThatIsDoneLeavesTheReleaseAsItIs: a rollback goes where the record
// lives now, even when the former home is gone for good.
func TestAMoveThatIsDoneLeavesTheReleaseAsItIs(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	w.put(eu, `{"namespace":"shop"}`)
	require.NoError(t, w.delete("cluster-providers/edge/clusters/hub"))
	w.rollback(1)
	w.settle(prod)
	require.Equal(t, []string{wwwOnParis}, w.published(prod))
}

// TestAMoveSurvivesCrashes: wherever a process dies, the next one ends the
// move, and no name goes in between (I1, I10, I11).
func TestAMoveSurvivesCrashes(t *testing.T) {
	t.Parallel()
	tell := func(l *life) {
		l.ask("instantiate", intent.Instantiate, prod)
		l.part(l.rest)
		l.guardMove()
		l.part(func() error { return l.moveTo("paris") })
		l.part(l.rest)
		l.fake.After = nil
	}
	undisturbed := newLife(newShop(t), 0, false)
	tell(undisturbed)
	require.Equal(t, []string{wwwOnParis}, undisturbed.published(prod))
	deaths(t, undisturbed.process.writes, func(last int, after bool) {
		l := newLife(newShop(t), last, after)
		tell(l)
		require.Equal(t, undisturbed.picture(), l.picture(), "write %d, after it: %t", last, after)
	})
}
