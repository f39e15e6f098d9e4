package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestVeryManyAtRestAreLookedAtOneAfterTheOther: when ten thousand names stay that have lost their addresses, they leave time for changes.
func TestVeryManyAtRestAreLookedAtOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const many = 10_000
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var l looks
	require.Equal(t, now.Add(state.LookAgain), l.next(now))
	for range many {
		l.next(now)
	}
	require.Equal(t, now.Add(state.LookAgain+(many+1)*looksApart), l.next(now))
	now = now.Add(many * looksApart)
	require.Equal(t, now.Add(state.LookAgain+2*looksApart), l.next(now), "they had their turns")
	now = now.Add(-2 * longestLook)
	require.Equal(t, now.Add(state.LookAgain), l.next(now), "the clock was set back")
}
