package controller

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

func named(kind string, n int) work {
	return work{owner: intent.Path(fmt.Sprintf("projects/shop/names/%s%d.lab.example", kind, n))}
}

// TestNewNamesGoFirst: a name of which nothing is published does not wait behind thousands
// that are. Of four turns, the others have one, so that none of them starves.
func TestNewNamesGoFirst(t *testing.T) {
	t.Parallel()
	c := NewController(&Worker{Store: &state.Store{Now: time.Now}})
	for n := range 1000 {
		c.due(named("old", n))
	}
	for n := range 300 {
		c.wake(state.Wakeup{Owners: []intent.Path{named("new", n).owner}, First: true})
	}
	turn, at := 0, map[work]int{}
	for ; c.queue.Len() > 0; turn++ {
		todo, _ := c.queue.Get()
		at[todo] = turn
		c.queue.Done(todo)
	}
	require.Len(t, at, 1300)
	for n := range 300 {
		require.Equal(t, n*4/3, at[named("new", n)], "new name %d", n)
	}
	for n := range 100 {
		require.Equal(t, n*4+3, at[named("old", n)], "old name %d", n)
	}
	c.wake(state.Wakeup{Owners: []intent.Path{named("new", 0).owner}})
	c.due(named("old", 0))
	c.wake(state.Wakeup{Owners: []intent.Path{named("old", 0).owner}, First: true})
	c.wake(state.Wakeup{Owners: []intent.Path{named("new", 1).owner}})
	for _, want := range []work{named("new", 0), named("old", 0), named("new", 1)} {
		todo, _ := c.queue.Get()
		require.Equal(t, want, todo, "work that is no first, or waits already, has its place")
		c.queue.Done(todo)
	}
}

// TestALookAtManyGoesLast: what comes for one owner does not wait for thousands that are looked at, also if it is looked at, too.
// Of four turns, these have one.
func TestALookAtManyGoesLast(t *testing.T) {
	t.Parallel()
	c := NewController(&Worker{Store: &state.Store{Now: time.Now}})
	var all []intent.Path
	for n := range 1000 {
		all = append(all, intent.Path(fmt.Sprintf("projects/shop/composite-apps/store/v1/deployment-intent-groups/g%d", n)))
	}
	c.lookAt(all, true)
	for n := range 6 {
		c.due(named("changed", n))
	}
	c.due(work{owner: all[900]})
	c.lookAt(all[901:], false)
	c.wake(state.Wakeup{Owners: all[950:951], First: true})
	require.Equal(t, 1006, c.queue.Len())
	var order []work
	for c.queue.Len() > 0 {
		todo, _ := c.queue.Get()
		order = append(order, todo)
		c.queue.Done(todo)
	}
	look := func(n int) work { return work{owner: all[n]} }
	require.Equal(t, []work{
		look(950), named("changed", 0), named("changed", 1), named("changed", 2), look(0), named("changed", 3), named("changed", 4), named("changed", 5), look(1), look(900), look(2),
	}, order[:11])
	require.Len(t, order, 1006)
	c.lookAt(all[:1], true)
	todo, _ := c.queue.Get()
	require.Equal(t, look(0), todo)
	c.lookAt(all[:9], true)
	c.due(todo) // it is under way
	c.order.done(todo)
	c.queue.Done(todo)
	todo, _ = c.queue.Get()
	require.Equal(t, look(0), todo)
}

// TestALookAtManyLeavesWhatIsTriedAgain: a name that is not settled comes when it would have, before all that are looked at with it.
func TestALookAtManyLeavesWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewController(&Worker{Store: &state.Store{Now: time.Now}})
		defer c.queue.ShutDown()
		var all []intent.Path
		for n := range 100 {
			all = append(all, named("name", n).owner)
		}
		tried := work{owner: all[50]}
		c.again.unsettled(tried)
		c.wake(state.Wakeup{Owners: all})
		time.Sleep(waitFirst)
		synctest.Wait()
		require.Equal(t, 100, c.queue.Len())
		first, _ := c.queue.Get()
		require.Equal(t, tried, first)
	})
}

// TestAnOwnerWaitsForProvidersThatWereTakenBeforeIt, and for none that is taken later: which of two workers begins first
// does not matter.
func TestAnOwnerWaitsForProvidersThatWereTakenBeforeIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		early, lab, late := named("early", 0), work{owner: "projects/shop/dns-update-records/lab"}, named("late", 0)
		q := newQueue()
		for _, todo := range []work{early, lab, late} {
			q.Push(todo)
			require.Equal(t, todo, q.Pop())
		}
		q.awaitProviders(t.Context(), early)
		done := false
		go func() {
			q.awaitProviders(t.Context(), late)
			done = true
		}()
		synctest.Wait()
		require.False(t, done)
		q.done(lab)
		synctest.Wait()
		require.True(t, done)
		q.done(early)
		require.False(t, q.idle())
		q.done(late)
		require.True(t, q.idle())
	})
}
