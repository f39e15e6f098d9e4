package state

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
	"github.com/signpost-dns/signpost/pkg/worker/index"
)

const here, elsewhere = "edge+hub", "edge+berlin"

// counting counts how often the objects of an owner are read.
type counting struct {
	*appcontext.Store
	reads int
}

func (c *counting) ObjectsOn(ctx context.Context, p appcontext.Pointer, cluster string) (bundle.Bundle, int64, error) {
	c.reads++
	return c.Store.ObjectsOn(ctx, p, cluster)
}

// board is a store with an Index of it, and what is wanted in one cluster.
type board struct {
	*testing.T
	contexts *counting
	index    *index.Index
	cluster  *Cluster
	desired  *Desired
}

func newBoard(t *testing.T) *board {
	contexts := &counting{Store: appcontext.NewStore(kvtest.NewFake(), time.Now)}
	b := &board{T: t, contexts: contexts, index: index.New(contexts, func([]string) {})}
	b.cluster = &Cluster{Name: here, Installation: "id", Index: b.index}
	b.desired = NewDesired(b.cluster, contexts)
	return b
}

// want has an owner want ConfigMaps in a cluster, each with a content.
func (b *board) want(owner appcontext.Owner, cluster string, contents map[string]int) {
	b.Helper()
	var objects []bundle.Object
	for name, content := range contents {
		o, err := bundle.Parse(cluster, "web", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"a":"%d"}}`, name, content))
		require.NoError(b, err)
		objects = append(objects, o)
	}
	b.commit(owner, cluster, objects...)
}

// commit makes objects of a cluster current for an owner.
func (b *board) commit(owner appcontext.Owner, cluster string, objects ...bundle.Object) {
	b.Helper()
	was, err := b.contexts.Current(b.Context(), owner)
	require.NoError(b, err)
	c := appcontext.Context{}
	if len(objects) > 0 {
		c = appcontext.Context{ID: appcontext.NewID(), Services: map[string][]string{cluster: {"shop/" + string(owner), "shop/all"}}}
		c.Objects, err = bundle.Collect(objects)
		require.NoError(b, err)
	}
	_, err = b.contexts.Commit(b.Context(), was, c)
	require.NoError(b, err)
	now, err := b.contexts.Current(b.Context(), owner)
	require.NoError(b, err)
	b.index.Update(appcontext.Change{Pointers: []appcontext.Pointer{now}})
}

// TestOneChangedOwnerIsReadAlone: beside 10 and beside 300 others, one read.
func TestOneChangedOwnerIsReadAlone(t *testing.T) {
	t.Parallel()
	for _, others := range []int{10, 300} {
		b := newBoard(t)
		for n := range others {
			b.want(appcontext.Owner(fmt.Sprintf("o%d", n)), here, map[string]int{fmt.Sprintf("c%d", n): 0})
		}
		require.NoError(t, b.desired.Load(t.Context(), nil))
		require.Equal(t, others, b.contexts.reads)
		kept := b.desired.Object(configMap("c1"))

		b.contexts.reads = 0
		require.NoError(t, b.desired.Load(t.Context(), nil))
		require.Zero(t, b.contexts.reads)
		b.want("o7", here, map[string]int{"c7": 1})
		b.want("away", elsewhere, map[string]int{"c": 1})
		require.NoError(t, b.desired.Load(t.Context(), nil))
		require.Equal(t, 1, b.contexts.reads)
		require.Contains(t, string(b.desired.Object(configMap("c7")).Object.JSON), `"1"`)
		require.Same(t, kept, b.desired.Object(configMap("c1")))

		b.want("o7", elsewhere, map[string]int{"c7": 1})
		require.NoError(t, b.desired.Load(t.Context(), nil))
		require.Equal(t, 1, b.contexts.reads, "it has left the cluster")
		require.Nil(t, b.desired.Object(configMap("c7")))
	}
}

// TestManyOwnersAreReadTogether: a worker that takes a cluster over reads them in few requests, and nothing of those that
// have no object there.
func TestManyOwnersAreReadTogether(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	b := newBoard(t)
	b.contexts.Store = appcontext.NewStore(&snapshot.Store{KV: store}, time.Now)
	for n := range 100 {
		b.want(appcontext.Owner(fmt.Sprintf("here%d", n)), here, map[string]int{fmt.Sprintf("c%d", n): 0})
		b.want(appcontext.Owner(fmt.Sprintf("elsewhere%d", n)), elsewhere, map[string]int{fmt.Sprintf("c%d", n): 0})
	}
	requests := 0
	store.Before = func(string, string) error { requests++; return nil }
	require.NoError(t, b.desired.Load(t.Context(), nil))
	require.Len(t, b.desired.Objects(), 100)
	require.LessOrEqual(t, requests, 100/readAtOnce+1)
}

func configMap(name string) bundle.ID { return bundle.ID{Cluster: here, Kind: "ConfigMap", Name: name} }

// TestWhatIsWantedFollowsAnyChanges: whatever owners do, and however many changes come at
// once, the union is what somebody makes of it who reads everything.
func TestWhatIsWantedFollowsAnyChanges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	b := newBoard(t)
	for round := range 150 {
		changes := random.IntN(4)
		if round%50 == 49 {
			changes = 300 // more than the index remembers
		}
		for range changes {
			contents := map[string]int{}
			for range random.IntN(4) {
				contents[fmt.Sprintf("c%d", random.IntN(6))] = random.IntN(2)
			}
			cluster := here
			if random.IntN(5) == 0 {
				cluster = elsewhere
			}
			b.want(appcontext.Owner(fmt.Sprintf("o%d", random.IntN(5))), cluster, contents)
		}
		if random.IntN(10) == 0 {
			_, err := b.index.Read(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, b.desired.Load(t.Context(), b.entries()))
		all := NewDesired(b.cluster, b.contexts)
		require.NoError(t, all.Load(t.Context(), b.entries()))
		require.Len(t, b.desired.Objects(), len(all.Objects()))
		for id, want := range all.Objects() {
			is := b.desired.Object(id)
			require.NotNil(t, is, id)
			require.ElementsMatch(t, want.Owners, is.Owners)
			require.Equal(t, want.Owners[0], is.Owners[0])
			require.Equal(t, want.Digest, is.Digest)
			require.ElementsMatch(t, want.Losing(), is.Losing())
		}
		require.Len(t, b.desired.shares, len(all.shares))
		b.sameServices()
	}
}

// entries are those of a ledger that knows who had the objects before.
func (b *board) entries() map[bundle.ID]ledger.Entry {
	entries := map[bundle.ID]ledger.Entry{}
	for id, want := range b.desired.Objects() {
		entries[id] = ledger.Entry{ID: id, Owners: want.Owners}
	}
	return entries
}

// sameServices compares the Services of the index with those of its pointers.
func (b *board) sameServices() {
	b.Helper()
	pointers, _, all := b.index.Since(here, -1)
	require.True(b, all)
	named := map[string]bool{}
	for _, p := range pointers {
		for _, service := range p.Services[here] {
			named[service] = true
		}
	}
	require.Equal(b, named, b.index.Services(here))
	require.Equal(b, len(pointers) > 0, b.index.Serves(here))
	require.True(b, slices.IsSortedFunc(pointers, func(x, y appcontext.Pointer) int {
		if x.Owner < y.Owner {
			return -1
		}
		return 1
	}))
}
