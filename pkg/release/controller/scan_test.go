package controller

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// The step of a record wakes the groups that use it. A look at everything begins
// with records, so that these groups wait in the queue already, and are stepped
// once.
func TestALookAtEverythingStepsEachGroupOnce(t *testing.T) {
	t.Parallel()
	const (
		record = intent.Path("projects/shop/dns-update-records/lab")
		groups = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/")
	)
	store := kvtest.NewFake()
	service := newWorker(&state.Store{
		Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store),
		Logger: slog.New(slog.DiscardHandler),
	})
	for _, owner := range []intent.Path{groups + "a", record, groups + "b"} {
		_, err := service.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(owner), Body: []byte(`{}`)})
		require.NoError(t, err)
	}
	c := NewController(service)
	defer c.queue.ShutDown()
	c.scan(t.Context())
	first, _ := c.queue.Get()
	require.Equal(t, work{owner: record}, first)
	c.queue.Add(work{owner: groups + "b"}) // as the record's step does
	require.Equal(t, 2, c.queue.Len())
}

// TestOwnersAreSteppedWhenTheirTimeComes: those of whom something is due later not
// before, the others at once.
func TestOwnersAreSteppedWhenTheirTimeComes(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	s := newWorker(&state.Store{KV: store, Ledger: ledger.New(store), Observed: observed.New(store), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	c := NewController(s)
	s.Wakeups.Listen(c.wake)
	s.WakeAt("later", s.Now().Add(time.Hour))
	s.WakeAt("past", s.Now().Add(-time.Hour))
	s.Wake("now")
	var stepped []intent.Path
	for range 2 {
		todo, _ := c.queue.Get()
		stepped = append(stepped, todo.owner)
	}
	require.ElementsMatch(t, []intent.Path{"past", "now"}, stepped)
	require.Zero(t, c.queue.Len())
	c.queue.ShutDown()
}
