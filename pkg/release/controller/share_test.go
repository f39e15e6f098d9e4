package controller

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/reconcile"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// pair are two replicas, of which this one is a.
type pair struct{}

func (pair) ID() string { return "a" }

func (pair) Working() []string { return []string{"a", "b"} }

// TestALookLeavesToOthersWhatTheyHave: a replica that begins looks at all owners, and leaves those to another one that it
// has not come to when they are divided. It steps what somebody has told of.
func TestALookLeavesToOthersWhatTheyHave(t *testing.T) {
	t.Parallel()
	const many = 20
	store := kvtest.NewFake()
	shared := &state.Store{
		Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store), Logger: slog.New(slog.DiscardHandler),
	}
	service := newWorker(shared)
	service.Replicas = pair{}
	service.Reconciler = &reconcile.Reconciler{
		Store: shared, Follower: service.Follower,
		SyncOrchestrated: func(context.Context, intent.Path, *state.Lifecycle) (bool, error) { return false, nil },
	}
	c := NewController(service)
	defer c.queue.ShutDown()
	var owners []intent.Path
	for n := range many {
		owners = append(owners, intent.Path(fmt.Sprintf("projects/shop/composite-apps/store/v1/deployment-intent-groups/g%d", n)))
	}
	c.lookAt(owners, turn{})
	for range aloneFor {
		_, changed := c.share.renew()
		require.False(t, changed)
	}
	_, changed := c.share.renew()
	require.True(t, changed)
	reads, left := 0, 0
	store.Before = func(string, string) error { reads++; return nil }
	steps := func(owner intent.Path) bool {
		before := reads
		settled, err := c.do(t.Context(), work{owner: owner})
		require.NoError(t, err)
		require.True(t, settled)
		return reads > before
	}
	for _, owner := range owners {
		if !c.share.has(owner) {
			left++
		}
		require.Equal(t, c.share.has(owner), steps(owner), owner)
		require.True(t, steps(owner), "it was told of")
	}
	c.wake(state.Wakeup{Owners: owners})
	require.Len(t, c.resync.asked, many)
	for _, owner := range owners {
		require.True(t, steps(owner), "a step here has woken all of them")
	}
	require.Positive(t, left)
	require.Less(t, left, many)
	require.Empty(t, c.resync.asked)
}
