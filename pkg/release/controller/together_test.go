package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestNamesThatAreSteppedAtOnceAreOfDifferentReads, so that not all workers wait for one.
func TestNamesThatAreSteppedAtOnceAreOfDifferentReads(t *testing.T) {
	t.Parallel()
	owners := []intent.Path{"projects/shop/logical-clouds/eu"}
	for n := range 2*workers*readAtOnce + 70 {
		owners = append(owners, intent.Path(fmt.Sprintf("projects/shop/names/n%04d.example", n)))
	}
	var r resync
	r.ask(owners, false)
	order := striped(owners)
	require.Equal(t, owners[0], order[0])
	require.ElementsMatch(t, owners, order)
	names := order[1:]
	for at := range 2 * readAtOnce {
		reads := map[*together]bool{}
		for _, name := range names[at*workers : (at+1)*workers] {
			reads[r.asked[name].together] = true
		}
		require.Len(t, reads, workers)
	}
	require.Empty(t, slices.DeleteFunc(names, func(name intent.Path) bool { return r.asked[name].together != nil }))
}

// TestNamesThatAreWokenForOneReasonReadTogether, as those of a provider that has changed. A single name reads for itself.
func TestNamesThatAreWokenForOneReasonReadTogether(t *testing.T) {
	t.Parallel()
	c := NewController(&Worker{Store: &state.Store{Now: time.Now}})
	defer c.queue.ShutDown()
	a, b, alone := named("a", 0).owner, named("b", 0).owner, named("c", 0).owner
	c.wake(state.Wakeup{Owners: []intent.Path{a, b}})
	c.wake(state.Wakeup{Owners: []intent.Path{alone}})
	require.Equal(t, 3, c.queue.Len())
	require.Equal(t, []intent.Path{a, b}, c.resync.asked[a].together.names)
	require.Same(t, c.resync.asked[a].together, c.resync.asked[b].together)
	require.NotContains(t, c.resync.asked, alone)
}
