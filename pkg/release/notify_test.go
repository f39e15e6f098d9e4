package release_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const nudges = "/signpost/nudge/"

// accepting makes w.service that of a process that accepts requests and works on
// none, and tells others until the test ends.
func (w *world) accepting(t *testing.T) {
	w.restartOn(w.fake)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	notifier := release.NewNotifier(w.service)
	go func() { ended <- notifier.Run(ctx) }()
	t.Cleanup(func() {
		end()
		require.NoError(t, <-ended)
	})
}

func (w *world) nudges() []string {
	items, _, err := w.fake.Range(w.Context(), kv.Range{Prefix: nudges})
	require.NoError(w, err)
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

// TestWhatOneReplicaAcceptsAnotherWorksOnAtOnce: two replicas work, and one of
// them takes the nudge up, long before the next scan.
func TestWhatOneReplicaAcceptsAnotherWorksOnAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newShop(t)
		w.control(t)
		w.restartOn(w.fake)
		w.control(t)
		w.accepting(t)
		const soon = 5 * time.Second // half of what passes between two scans
		for _, action := range []intent.Action{intent.Instantiate, intent.Terminate} {
			began := time.Now()
			w.do(action, prod)
			until(t, "the names follow", func() bool { return w.publishes(prod, "203.0.113.10") == (action == intent.Instantiate) })
			require.Less(t, time.Since(began), soon)
			until(t, "nudges are taken away", func() bool { return len(w.nudges()) == 0 })
			w.applyAll()
		}
	})
}

// TestANudgeWaitsForAReplica: nobody worked when it came.
func TestANudgeWaitsForAReplica(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.accepting(t)
	w.do(intent.Instantiate, prod)
	until(t, "the nudge is there", func() bool { return len(w.nudges()) > 0 })
	require.Contains(t, w.nudges(), nudges+string(prod))
	w.restartOn(w.fake)
	w.control(t)
	until(t, "the names are committed", func() bool { return w.publishes(prod, "203.0.113.10") })
	until(t, "it is taken away", func() bool { return len(w.nudges()) == 0 })
}

// TestALostNudgeIsNoHarm: the store does not take it, and scans find the owner.
func TestALostNudgeIsNoHarm(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.fake.Before = func(op, key string) error {
		if op == "txn" && len(key) > len(nudges) && key[:len(nudges)] == nudges {
			return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer"}
		}
		return nil
	}
	w.accepting(t)
	w.do(intent.Instantiate, prod)
	w.restartOn(w.fake)
	w.control(t)
	until(t, "the names are committed", func() bool { return w.publishes(prod, "203.0.113.10") })
	require.Empty(t, w.nudges())
}
