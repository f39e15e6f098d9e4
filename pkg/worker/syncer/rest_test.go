package syncer

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/worker/pace"
)

// dear is a clock by which everything between two looks at it takes 20 milliseconds. It
// remembers what was waited for.
type dear struct {
	mu     sync.Mutex
	now    time.Time
	waited map[time.Duration]bool
}

const betweenLooks = 20 * time.Millisecond

func (d *dear) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(betweenLooks)
	return d.now
}

func (d *dear) After(wait time.Duration) <-chan time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waited[wait] = true
	return time.After(wait)
}

func (d *dear) has(wait time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waited[wait]
}

// TestAWorkerRestsAfterALongDecision: so the changes of a large cluster are joined.
func TestAWorkerRestsAfterALongDecision(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	clock := &dear{now: time.Now(), waited: map[time.Duration]bool{}}
	s.clock = clock
	s.start("a")
	s.commit("shop", config(t, hub, "web", `"data":{"a":"1"}`))
	s.until("a step is followed by a rest", func() bool { return clock.has(pace.Rest(betweenLooks)) })
	require.NotEmpty(t, s.entries(hub))
}
