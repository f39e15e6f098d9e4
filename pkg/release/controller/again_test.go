package controller

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUnsettledWorkComesAgain after a time that doubles, once for the last time that it was not settled, and not
// once it has settled.
func TestUnsettledWorkComesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		todo := work{owner: "projects/shop/names/www.shop.example"}
		var came atomic.Int32
		a := newAgain(func(work, bool) { came.Add(1) })
		within := func(wait time.Duration) int32 {
			came.Store(0)
			time.Sleep(wait)
			synctest.Wait()
			return came.Load()
		}
		a.unsettled(todo)
		require.Zero(t, within(waitFirst-1))
		require.EqualValues(t, 1, within(1))
		a.unsettled(todo)
		require.Zero(t, within(waitFirst), "it doubles")
		require.EqualValues(t, 1, within(waitFirst))
		a.unsettled(todo)
		a.unsettled(todo)
		require.EqualValues(t, 1, within(waitMost), "an earlier time does not count any more")
		a.unsettled(todo)
		a.anew(todo)
		require.Zero(t, within(waitMost), "it has settled")
		a.unsettled(todo)
		require.EqualValues(t, 1, within(waitFirst), "it begins anew")
		require.Empty(t, a.waits)
	})
}

// TestVeryMuchUnsettledWorkComesRarely: while a home is away, each of thousands of names does not cost a step every two seconds, and
// none comes before a change.
func TestVeryMuchUnsettledWorkComesRarely(t *testing.T) {
	t.Parallel()
	const names, minute = 6000, time.Minute
	synctest.Test(t, func(t *testing.T) {
		var came, first atomic.Int32
		var a *again
		a = newAgain(func(todo work, often bool) {
			came.Add(1)
			if !often {
				first.Add(1)
			}
			a.unsettled(todo)
		})
		for n := range names {
			a.unsettled(named("stuck", n))
		}
		time.Sleep(2 * minute)
		came.Store(0)
		first.Store(0)
		time.Sleep(minute)
		require.InDelta(t, mostPolls*minute.Seconds(), came.Load(), names/10)
		require.Zero(t, first.Load())
		for n := range names - 1 {
			a.anew(named("stuck", n))
		}
		time.Sleep(minute)
		came.Store(0)
		time.Sleep(minute)
		require.InDelta(t, minute/waitMost, came.Load(), 1, "the one that is left does not wait for turns of others")
		a.anew(named("stuck", names-1))
	})
}
