package release

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/store/etcd"
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
	service := New(Options{
		Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store),
		Logger: slog.New(slog.DiscardHandler),
	})
	for _, owner := range []intent.Path{groups + "a", record, groups + "b"} {
		_, err := service.Documents.Put(t.Context(), intent.Write{Path: lifecyclePath(owner), Body: []byte(`{}`)})
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
	s := New(Options{KV: store, Ledger: ledger.New(store), Observed: observed.New(store), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	c := NewController(s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.listen(ctx) }()
	s.wakeAt("later", s.Now().Add(time.Hour))
	s.wakeAt("past", s.Now().Add(-time.Hour))
	s.wake("now")
	var stepped []intent.Path
	for range 2 {
		todo, _ := c.queue.Get()
		stepped = append(stepped, todo.owner)
	}
	require.ElementsMatch(t, []intent.Path{"past", "now"}, stepped)
	require.Zero(t, c.queue.Len())
	cancel()
	<-ended
	c.queue.ShutDown()
}
