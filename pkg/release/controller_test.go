package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// until waits for a condition, with a deadline.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	untilEach(t, 2*time.Millisecond, what, holds)
}

// untilEach is until, and looks once in so much time. In a bubble, whose clock
// waits for everybody, a long time costs nothing.
func untilEach(t *testing.T, pause time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			require.FailNow(t, "it does not happen", what)
		case <-tick.C:
		}
	}
}

// publishes says whether a group's current context holds an address.
func (w *world) publishes(group intent.Path, address string) bool {
	for _, o := range w.snapshot(group).Objects {
		if strings.Contains(string(o.JSON), address) {
			return true
		}
	}
	return false
}

// control runs a controller until the test ends.
func (w *world) control(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	controller := release.NewController(w.service)
	go func() { ended <- controller.Run(ctx) }()
	t.Cleanup(func() {
		end()
		require.NoError(t, <-ended)
	})
}

// TestTheControllerTellsHowFarItsFirstLookIs: until each owner has had its turn.
func TestTheControllerTellsHowFarItsFirstLookIs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	ctx, end := context.WithCancel(t.Context())
	ended, controller := make(chan error, 1), release.NewController(w.service)
	_, _, looking := controller.Looking()
	require.True(t, looking, "it has not begun")
	go func() { ended <- controller.Run(ctx) }()
	until(t, "all owners have had their turn", func() bool {
		done, total, looking := controller.Looking()
		require.LessOrEqual(t, done, total)
		return !looking && total > 0
	})
	until(t, "the owner was stepped", func() bool { return w.publishes(prod, "203.0.113.10") })
	end()
	require.NoError(t, <-ended)
}

// TestTheControllerDoesWhatRequestsAskFor: without anybody stepping, and
// follows addresses as they are observed.
func TestTheControllerDoesWhatRequestsAskFor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.control(t)
	w.do(intent.Instantiate, prod)
	until(t, "the names are committed", func() bool { return w.publishes(prod, "203.0.113.10") })
	until(t, "it is Instantiated", func() bool { w.applyAll(); return w.state(prod) == intent.Instantiated })
	w.observe(berlin, "shop/web", "203.0.113.11")
	until(t, "the address is followed", func() bool { return w.publishes(prod, "203.0.113.11") })
	require.True(t, w.publishes(prod, "203.0.113.20"))
	w.do(intent.Terminate, prod)
	until(t, "it is Terminated", func() bool {
		w.applyAll()
		w.clock.pass(time.Second)
		return w.state(prod) == intent.Terminated
	})
	until(t, "the record is free", func() bool { return w.delete(lab) == nil })
}

// TestTheControllerFindsWhatItsPredecessorLeft: a request was accepted, and its
// process died.
func TestTheControllerFindsWhatItsPredecessorLeft(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.restartOn(w.fake)
	w.control(t)
	until(t, "the names are committed", func() bool { return w.publishes(prod, "203.0.113.10") })
}

// TestTheControllerTakesARecordsUpdateToItsUsers: providers and names.
func TestTheControllerTakesARecordsUpdateToItsUsers(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.control(t)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.20/32"]},"suspend":true`))
	w.updateRecord(lab)
	until(t, "the names follow", func() bool { return !w.publishes(prod, "203.0.113.20") })
	until(t, "external-dns follows", func() bool {
		for _, o := range w.snapshot(prod).Providers[0].Objects {
			if strings.Contains(string(o.JSON), `"replicas":0`) {
				return true
			}
		}
		return false
	})
}

// TestTheControllerEndsAbandonments: of clusters whose documents are gone, and
// that nobody looks at any more.
func TestTheControllerEndsAbandonments(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put("cluster-providers/edge/clusters/rome", `{"kubeconfigRef":"sealed"}`)
	w.observe("edge+rome", "shop/web", "203.0.113.30")
	w.dies("edge+rome")
	require.NoError(t, w.delete("cluster-providers/edge/clusters/rome"))
	require.NotEmpty(t, w.keysOf("edge+rome"))
	w.control(t)
	until(t, "all that was known of it is gone", func() bool { return len(w.keysOf("edge+rome")) == 0 })
}

// TestReplicasTogetherJoinABurst: what a Service's DNSEndpoints follow is written
// once in 150 ms, however many replicas follow it.
func TestReplicasTogetherJoinABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newShop(t)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		for range 3 {
			w.restartOn(w.fake)
			w.control(t)
		}
		var last int64
		writes, n, began := 0, 0, time.Now()
		until(t, "two seconds have passed", func() bool {
			n++
			w.observe(berlin, "shop/web", fmt.Sprintf("203.0.113.%d", n%250))
			synctest.Wait()
			touch, _, err := w.fake.Get(t.Context(), "/signpost/current/touched/"+string(prod))
			require.NoError(t, err)
			if touch != nil && touch.ModRevision != last && strings.Contains(string(touch.Value), `"service":"shop/web"`) {
				writes, last = writes+1, touch.ModRevision
			}
			return time.Since(began) > 2*time.Second
		})
		require.Positive(t, writes)
		require.LessOrEqual(t, writes, int(time.Since(began)/(150*time.Millisecond))+4, "of %d changes; each replica may begin with one", n)
	})
}
