package controller

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/reconcile"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// TestManyNamesOfATurnAreNoBurst: they come by the readAtOnce, all of them before the next turn.
func TestManyNamesOfATurnAreNoBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many = 3*readAtOnce + 10
		store := kvtest.NewFake()
		service := newWorker(&state.Store{
			Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store), Logger: slog.New(slog.DiscardHandler),
		})
		service.Reconciler = &reconcile.Reconciler{Store: service.Store}
		for n := range many {
			owner := intent.Path(fmt.Sprintf("projects/shop/names/n%03d.lab.example", n))
			_, err := service.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(owner), Body: []byte(`{}`)})
			require.NoError(t, err)
		}
		c := NewController(service)
		defer c.queue.ShutDown()
		c.resync.begin(many*int(resyncIn/scanEvery), many)
		began, turn := time.Now(), make(chan time.Duration)
		go func() {
			c.lookOn(t.Context())
			turn <- time.Since(began)
		}()
		for n := range 3 {
			synctest.Wait()
			require.Equal(t, (n+1)*readAtOnce, c.queue.Len())
			time.Sleep(scanEvery / 4)
		}
		require.Less(t, <-turn, scanEvery)
		require.Equal(t, many, c.queue.Len())
	})
}

// TestWhoIsToldOfAChangeReadsForItself, also if that was while the round read for others: what was read is older.
func TestWhoIsToldOfAChangeReadsForItself(t *testing.T) {
	t.Parallel()
	var r resync
	read := view{&snapshot.View{}, time.Now().Add(readLasts)}
	for _, name := range []intent.Path{"before", "meanwhile", "after", "never"} {
		r.ask(name)
	}
	r.told("meanwhile")
	for _, name := range []intent.Path{"meanwhile", "after", "never"} {
		r.give(name, read)
	}
	r.told("after")
	require.Equal(t, map[intent.Path]view{"before": {}, "never": read}, r.asked)
	r.forget()
	r.give("never", read)
	require.Empty(t, r.asked, "everybody is due")
}
