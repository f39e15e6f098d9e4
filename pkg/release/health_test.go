package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// owned has somebody own a cluster, and answers the revision of his key.
func (w *world) owned(cluster string) int64 {
	w.Helper()
	_, revision, err := w.fake.Txn(context.Background(), nil, kv.Put(ledger.WorkerPrefix+cluster, []byte("a worker")))
	require.NoError(w, err)
	return revision
}

// lost has the present owner of a cluster, and the Service, see that it has not
// answered for a while.
func (w *world) lost(cluster string, ago time.Duration) {
	w.Helper()
	w.clock.pass(-ago)
	at := w.clock.Now()
	w.reach(cluster, observed.Reachability{Message: "no answer in time", Since: at, Counted: at, Owner: w.owned(cluster)})
	_, err := w.service.NoteFrozen(context.Background())
	require.NoError(w, err)
	w.clock.pass(ago)
}

func (w *world) reachable(clusters ...string) {
	w.Helper()
	for _, cluster := range clusters {
		w.reach(cluster, observed.Reachability{Reachable: true, Since: w.clock.Now(), Owner: w.owned(cluster)})
	}
}

func (w *world) reach(cluster string, r observed.Reachability) {
	w.Helper()
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetReachability(context.Background(), r))
}

// ready has the Service shop/web of a cluster have ready endpoints, or none. It
// is long since that was another.
func (w *world) ready(cluster, address string, ready int) {
	w.Helper()
	w.clock.pass(time.Hour)
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetService(context.Background(), "shop", "web", offered(address, ready, w.clock.Now())))
}

func offered(target string, ready int, at time.Time) address.Observation {
	return address.Observation{
		Found: true, Readiness: &address.Readiness{Ready: ready, Total: 2}, Changed: at,
		Candidates: []address.Candidate{{Target: target, Field: "status.loadBalancer.ingress[0].ip", Kind: address.LoadBalancer}},
	}
}

// health are the sentences of what health has to do with the name of prod.
func (w *world) health() string {
	w.Helper()
	return strings.Join(w.snapshot(prod).Choices[0][0].Health, "; ")
}

const (
	bothEdges  = "edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"
	onlyBerlin = "edge+hub lab/public: www.lab.example A 203.0.113.10"
	onlyParis  = "edge+hub lab/public: www.lab.example A 203.0.113.20"
)

// TestAnUnreachableClusterIsTakenOutAndComesBackByItself, after unreachableAfter,
// which is 5 minutes unless the intent says otherwise.
func TestAnUnreachableClusterIsTakenOutAndComesBackByItself(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	w.lost(berlin, 0)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
	require.Equal(t, map[intent.Path]time.Time{prod: w.clock.Now().Add(5 * time.Minute)}, w.service.Appointments(), "it is looked at again when its time comes")
	w.clock.pass(5*time.Minute - time.Nanosecond)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
	w.clock.pass(time.Nanosecond)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	require.Contains(t, w.health(), "edge+berlin is left out: the cluster cannot be reached since 2026-11-01T12:0")
	w.restartOn(w.fake)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod), "a restart forgets nothing")

	w.reachable(berlin)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
	require.Empty(t, w.health())
}

func TestAnIntentSaysForHowLongAClusterMayBeUnreachable(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"health":{"unreachableAfter":"1h"}}`)
	w.do(intent.Instantiate, prod)
	w.reachable(hub, paris)
	w.lost(berlin, time.Hour-time.Second)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
	w.clock.pass(time.Second)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
}

// TestClocksThatGoWrongTakeNobodyOutTooSoon: the owner's is behind, so that it has
// counted for an hour when others hear of it. Nor do they let anybody in again, whose
// is ahead.
func TestClocksThatGoWrongTakeNobodyOutTooSoon(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	hourAgo := w.clock.Now().Add(-time.Hour)
	w.reach(berlin, observed.Reachability{Message: "no answer in time", Since: hourAgo, Counted: hourAgo, Owner: w.owned(berlin)})
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod), "it was heard of just now")
	w.clock.pass(5 * time.Minute)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))

	w = running(t)
	w.reachable(hub, paris)
	soon := w.clock.Now().Add(2 * time.Minute)
	w.reach(berlin, observed.Reachability{Message: "no answer in time", Since: soon, Counted: soon, Owner: w.owned(berlin)})
	w.settle(prod)
	w.clock.pass(7 * time.Minute)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.owned(berlin) // by another now, who has not counted yet
	w.clock.pass(-90 * time.Second)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod), "it has been silent for longer than unreachableAfter, by this clock")
}

// TestADeadSignpostTakesNobodyOut: what is counted counts for as long as he owns
// the cluster who has counted.
func TestADeadSignpostTakesNobodyOut(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	w.lost(berlin, time.Hour)
	w.owned(berlin) // by another now
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod), "a new owner counts anew")
	w.lost(berlin, time.Hour)
	_, _, err := w.fake.Txn(t.Context(), nil, kv.Delete(ledger.WorkerPrefix+berlin))
	require.NoError(t, err)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod), "nobody owns it")
}

// TestWhoIsOutStaysOutUntilItsClusterAnswers, whoever serves it meanwhile: a
// Signpost that was started again brings nothing back that is down.
func TestWhoIsOutStaysOutUntilItsClusterAnswers(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	w.lost(berlin, time.Hour)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.owned(berlin) // by another, who has seen nothing yet
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.lost(berlin, time.Second) // and then for a moment
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.reachable(berlin)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
}

// TestAClusterThatTurnsSignpostAwayIsThere, and so is one that nobody knows how
// to reach.
func TestAClusterThatTurnsSignpostAwayIsThere(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	w.reach(berlin, observed.Reachability{Message: "Unauthorized", Since: w.clock.Now(), Owner: w.owned(berlin)})
	w.clock.pass(time.Hour)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
	w.reach(hub, observed.Reachability{Message: "no kubeconfig", Since: w.clock.Now(), Owner: w.owned(hub)})
	w.lost(paris, time.Hour)
	w.settle(prod)
	require.Equal(t, []string{onlyBerlin}, w.published(prod), "nor do such clusters freeze the others")
}

// TestMostClustersFailingAtOnceFreeze: nobody is taken out for it, whatever names
// he is in, and status says so. What is out stays out.
func TestMostClustersFailingAtOnceFreeze(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub, paris)
	w.lost(berlin, 6*time.Minute)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.lost(hub, 6*time.Minute)
	w.lost(paris, 6*time.Minute)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	require.Contains(t, w.health(), "3 of 3 clusters cannot be reached")
	w.reachable(hub, paris)
	w.settle(prod)
	require.NotContains(t, w.health(), "3 of 3")
	w.reachable(berlin)
	w.settle(prod)
	w.lost(hub, 6*time.Minute)
	w.lost(berlin, 6*time.Minute)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod), "2 of 3")
}

// TestAClusterThatChangesHandsThawsNobody: while nobody serves one of those that
// cannot be reached, it is not known to answer.
func TestAClusterThatChangesHandsThawsNobody(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.reachable(hub)
	w.lost(berlin, time.Hour)
	w.lost(paris, time.Hour)
	_, _, err := w.fake.Txn(context.Background(), nil, kv.Delete(ledger.WorkerPrefix+paris))
	require.NoError(t, err)
	w.settle(prod)
	require.Equal(t, []string{bothEdges}, w.published(prod))
}

// TestNamesInsideAClusterDoNotMindThatItCannotBeReached: who asks for them is in
// there, and so is what answers.
func TestNamesInsideAClusterDoNotMindThatItCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate("cluster-providers/edge/clusters/berlin", "shop/corp")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.corp.example"],"scope":"cluster"}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	inside := w.published(prod)
	require.NotEmpty(t, inside)
	w.reachable(hub, paris)
	w.lost(berlin, time.Hour)
	require.NoError(t, w.step(prod))
	require.Equal(t, inside, w.published(prod))
}

// TestAServiceThatLosesItsLastReadyEndpointIsTakenOut, and the last one that is
// published stays.
func TestAServiceThatLosesItsLastReadyEndpointIsTakenOut(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.ready(berlin, "203.0.113.10", 0)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.ready(paris, "203.0.113.20", 0)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	require.Contains(t, w.health(), "no cluster is healthy: published addresses that still exist stay")
	w.ready(berlin, "203.0.113.10", 1)
	w.settle(prod)
	require.Equal(t, []string{onlyBerlin}, w.published(prod))
}

// TestANameThatIsKeptIsKeptOnTheMove: to another home of its external-dns.
func TestANameThatIsKeptIsKeptOnTheMove(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.ready(berlin, "203.0.113.10", 0)
	w.settle(prod)
	w.ready(paris, "203.0.113.20", 0)
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	require.Equal(t, []string{"edge+paris lab/public: www.lab.example A 203.0.113.20"}, w.published(prod))
}

func TestNothingIsPublishedBeforeSomethingWasHealthy(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.ready(berlin, "203.0.113.10", 0)
	w.ready(paris, "203.0.113.20", 0)
	require.Contains(t, w.plan(prod, intent.Instantiate).Warnings, "no cluster is healthy, and nothing is published yet; the name is published when a cluster is healthy")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Empty(t, w.published(prod))
	w.ready(paris, "203.0.113.20", 1)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
}

func TestANameGoesThatIsToGoWhenNoClusterIsHealthy(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"health":{"whenAllUnhealthy":"remove"}}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.ready(berlin, "203.0.113.10", 0)
	w.ready(paris, "203.0.113.20", 0)
	w.settle(prod)
	require.Empty(t, w.published(prod))
}

// TestASickClusterMayBeDrained: whether a name keeps an address is asked without
// regard to who is healthy at the moment.
func TestASickClusterMayBeDrained(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.ready(paris, "203.0.113.20", 0)
	require.NoError(t, w.drain(berlin, false))
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod), "what is drained is out, and the other is better than nothing")
	require.Equal(t, intent.Conflict, intent.CodeOf(w.drain(paris, false)), "it has the last address")
}

func TestFailoverGoesToTheNextClusterAndBack(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"routing":{"policy":"failover","order":["edge+paris","edge+berlin"]}}`)
	require.NotContains(t, strings.Join(w.plan(prod, intent.Instantiate).Warnings, "; "), "comes first")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
	w.reachable(hub, berlin)
	w.lost(paris, 5*time.Minute)
	w.settle(prod)
	require.Equal(t, []string{onlyBerlin}, w.published(prod))
	w.reachable(paris)
	w.settle(prod)
	require.Equal(t, []string{onlyParis}, w.published(prod))
}

// TestTheControllerFollowsHowClustersCanBeReached, and takes them out when their
// time has come; it tells when most fail at once.
func TestTheControllerFollowsHowClustersCanBeReached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := running(t)
		w.reachable(hub, paris, berlin)
		w.control(t)
		w.lost(berlin, 0)
		untilEach(t, time.Second, "it is taken out", func() bool {
			w.clock.pass(time.Minute)
			return !w.publishes(prod, "203.0.113.10")
		})
		require.Empty(t, w.service.Frozen())
		w.lost(hub, time.Second)
		untilEach(t, time.Second, "most have failed", func() bool { return strings.Contains(w.service.Frozen(), "2 of 3 clusters cannot be reached") })
		w.reachable(berlin, hub)
		untilEach(t, time.Second, "it is back", func() bool { return w.publishes(prod, "203.0.113.10") && w.service.Frozen() == "" })
	})
}

// TestAnOutageOfManyClustersCostsNoFoldMore: the controller knows how clusters can
// be reached, and asks in one request whether those that could not still cannot, and
// in one who serves them.
func TestAnOutageOfManyClustersCostsNoFoldMore(t *testing.T) {
	t.Parallel()
	reads := func(silent int) int {
		w := newMarket(t)
		for n := range silent {
			w.lost(fmt.Sprintf("edge+far%d", n), time.Hour)
		}
		w.restartOn(w.fake)
		require.NoError(t, w.service.KeepHealth(t.Context()))
		w.step(prod)
		w.observe(paris, "shop/db", "203.0.113.99")
		reads := 0
		w.fake.Before = func(op, _ string) error {
			if op != "txn" {
				reads++
			}
			return nil
		}
		require.True(t, w.fold("shop/db").Wrote)
		return reads
	}
	require.LessOrEqual(t, reads(100), reads(0)+2)
}
