package reconcile

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestVeryManyHeldNamesAreLookedAtOneAfterTheOther: when ten thousand names stay that have lost their addresses, they leave time for
// changes. When they go, one that is left does not wait for their turns.
func TestVeryManyHeldNamesAreLookedAtOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const many = 10_000
	now, l := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), looks{}
	name := func(n int) intent.Path { return intent.Path(fmt.Sprint("projects/shop/names/", n)) }
	require.Equal(t, now.Add(state.LookAgain), l.next(name(0), now))
	for range 3 {
		for n := range many {
			l.next(name(n), now)
		}
	}
	last := l.next(name(many), now)
	require.Equal(t, now.Add(many*looksApart), last.Truncate(time.Second))
	require.Equal(t, last, l.next(name(many), now), "it keeps its turn")
	for n := range many {
		l.drop(name(n))
	}
	require.Equal(t, last.Add(state.LookAgain), l.next(name(many), last))
	back := last.Add(-5 * time.Hour)
	require.Equal(t, back.Add(state.LookAgain), l.next(name(many), back), "a clock that was set back delays nothing")
}
