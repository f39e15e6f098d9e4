package controller

import (
	"fmt"
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
)

// TestARoundLooksAtSoManyAndNoMore: each owner has its turn in half an hour, if there are not very many; else the round takes longer.
func TestARoundLooksAtSoManyAndNoMore(t *testing.T) {
	t.Parallel()
	const many = resyncMost + 10
	store := kvtest.NewFake()
	service := newWorker(&state.Store{
		Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store), Logger: slog.New(slog.DiscardHandler),
	})
	for n := range many {
		owner := intent.Path(fmt.Sprintf("projects/shop/names/n%03d.lab.example", n))
		_, err := service.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(owner), Body: []byte(`{}`)})
		require.NoError(t, err)
	}
	c := NewController(service)
	defer c.queue.ShutDown()
	const turns = int(resyncIn / scanEvery)
	for _, of := range []struct{ owners, atOnce int }{{0, 1}, {turns * 3, 4}, {turns * resyncMost * 10, resyncMost}} {
		c.resync.looking(of.owners, of.owners)
		before := len(c.resync.asked)
		c.lookOn(t.Context())
		require.Len(t, c.resync.asked, max(before, of.atOnce), "of %d owners", of.owners)
	}
	require.Equal(t, resyncMost, c.queue.Len())
	c.lookOn(t.Context())
	require.Equal(t, many, c.queue.Len(), "the next turn begins where the last one ended")
}

// TestARoundBeginsWithALookAtAll, unless a watch has looked at them: one that does not begin leaves nobody out.
func TestARoundBeginsWithALookAtAll(t *testing.T) {
	t.Parallel()
	const many = 3
	store := kvtest.NewFake()
	service := newWorker(&state.Store{
		Documents: etcd.New(store), KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store), Logger: slog.New(slog.DiscardHandler),
	})
	for n := range many {
		_, err := service.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n))), Body: []byte(`{}`)})
		require.NoError(t, err)
	}
	c := NewController(service)
	defer c.queue.ShutDown()
	c.lookOn(t.Context())
	require.Equal(t, many, c.queue.Len())
	require.False(t, c.resync.asked["projects/shop/names/n0.lab.example"].round, "the round has found nothing of what its step does")
}

// TestARoundLearnsHowManyThereAre: owners that came since the last look at all of them count in the next round.
func TestARoundLearnsHowManyThereAre(t *testing.T) {
	t.Parallel()
	const turns = int(resyncIn / scanEvery)
	var r resync
	r.looking(0, 0)
	r.went(intent.Page{Items: make([]intent.Document, 2*turns), Continue: "more"})
	limit, _, _ := r.turn()
	require.Equal(t, 3, limit, "it has come by so many already")
	r.went(intent.Page{Items: make([]intent.Document, turns)})
	limit, after, _ := r.turn()
	require.Equal(t, 4, limit)
	require.Empty(t, after, "a new round begins")
	r.went(intent.Page{Items: make([]intent.Document, 1)})
	limit, _, _ = r.turn()
	require.Equal(t, 1, limit, "most are gone")
}

// TestNamesThatAClusterConcernsReadTogether: it may concern very many. The round has found nothing of what their steps do.
func TestNamesThatAClusterConcernsReadTogether(t *testing.T) {
	t.Parallel()
	const a, b, service = "projects/shop/names/a.lab.example", "projects/shop/names/b.lab.example", "shop/web"
	store := kvtest.NewFake()
	c := NewController(newWorker(&state.Store{KV: store, Ledger: ledger.New(store), Logger: slog.New(slog.DiscardHandler)}))
	defer c.queue.ShutDown()
	c.concern([]work{{owner: a}, {owner: b}, {owner: b, service: service}})
	require.Equal(t, 3, c.queue.Len())
	of, asked := c.resync.turnOf(a)
	require.True(t, asked)
	require.False(t, of.round)
	with, asked := c.resync.turnOf(b)
	require.True(t, asked)
	require.Same(t, of.together, with.together)
	require.Equal(t, []intent.Path{a, b}, of.together.names)
}

// TestWhoIsToldOfAChangeReadsForItself, also if that was after others have read for it: what was read is older.
func TestWhoIsToldOfAChangeReadsForItself(t *testing.T) {
	t.Parallel()
	const first, told, last = "projects/shop/names/a.lab.example", "projects/shop/names/b.lab.example", "projects/shop/names/c.lab.example"
	var r resync
	r.ask([]intent.Path{first, told, last, "projects/shop/logical-clouds/eu"}, true)
	r.told(first)
	of, asked := r.turnOf(first)
	require.True(t, asked, "nothing was read yet")
	require.False(t, of.round)
	require.Equal(t, []intent.Path{first, told, last}, r.begin(of.together))
	r.told(told)
	_, asked = r.turnOf(told)
	require.False(t, asked)
	require.False(t, r.had(told), "somebody has told of it")
	require.Equal(t, []intent.Path{first, last}, r.begin(of.together))
	alone, asked := r.turnOf("projects/shop/logical-clouds/eu")
	require.True(t, asked)
	require.Equal(t, turn{round: true}, alone)
	require.True(t, r.had(last))
	require.False(t, r.had(first), "somebody has told of it")
	r.ask([]intent.Path{first}, false)
	r.ask([]intent.Path{first}, true)
	of, _ = r.turnOf(first)
	require.False(t, of.round, "it waits for a reason")
	r.forget()
	require.False(t, r.had(first), "everybody is about to be asked")
}
