package app

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryIsGivenBackAtRest: not while the process is at work, and not if little is spare.
func TestMemoryIsGivenBackAtRest(t *testing.T) {
	t.Parallel()
	released := 0
	const live, much, fragments = 100 << 20, 80 << 20, 30 << 20
	r := rest{release: func() uint64 { released++; return fragments }}
	for _, c := range []struct {
		reason string
		now    heapUse
		want   int
	}{
		{"a burst", heapUse{allocated: 1 << 30, live: live, spare: much}, 0},
		{"it goes on", heapUse{allocated: 2 << 30, live: live, spare: much}, 0},
		{"it is over", heapUse{allocated: 2<<30 + 1<<20, live: live, spare: much}, 1},
		{"little is spare", heapUse{allocated: 2<<30 + 2<<20, live: live, spare: 20 << 20}, 1},
		{"the rest is in pages that are in use", heapUse{allocated: 2<<30 + 5<<19, live: live, spare: 40 << 20}, 1},
		{"it is not", heapUse{allocated: 2<<30 + 3<<20, live: live, spare: 46 << 20}, 2},
		{"a small process", heapUse{allocated: 2<<30 + 4<<20, live: 1 << 20, spare: 0}, 2},
		{"that has worked", heapUse{allocated: 2<<30 + 5<<20, live: 1 << 20, spare: 20 << 20}, 3},
	} {
		r.look(c.now)
		require.Equal(t, c.want, released, c.reason)
	}
}

// TestTheHeapIsMeasured: garbage that nothing has collected yet is spare, and goes.
func TestTheHeapIsMeasured(t *testing.T) {
	const size = 64 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection meanwhile would find the burst alive
	burst := make([]byte, size)
	runtime.KeepAlive(burst)
	before := heapNow()
	require.Greater(t, before.spare, uint64(size/2))
	r := rest{allocated: before.allocated, release: giveBack}
	r.look(before)
	require.Less(t, heapNow().spare, before.spare-size/2)
}
