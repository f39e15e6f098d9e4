package probe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// waiting is a clock that notes how long somebody waits, and lets nobody wait.
type waiting struct{ waits []time.Duration }

func (*waiting) Now() time.Time { return time.Time{} }

func (c *waiting) After(d time.Duration) <-chan time.Time {
	c.waits = append(c.waits, d)
	over := make(chan time.Time, 1)
	over <- time.Time{}
	return over
}

// TestAProberRestsTwentyTimesAsLongAsItWorks, but not for what is little, nor longer than ten seconds.
func TestAProberRestsTwentyTimesAsLongAsItWorks(t *testing.T) {
	t.Parallel()
	clock := &waiting{}
	p := New(&state.Cluster{Clock: clock})
	for _, worked := range []time.Duration{0, 9 * time.Millisecond, 10 * time.Millisecond, 300 * time.Millisecond, time.Minute} {
		p.rest(t.Context(), worked)
	}
	require.Equal(t, []time.Duration{200 * time.Millisecond, 6 * time.Second, 10 * time.Second}, clock.waits)
}
