//go:build !race

// The race detector takes several times the memory.

package bench

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryIsFlatOverAThousandCalls: a hundred app contexts that are extended
// ten times each, and deleted, leave nothing in memory.
func TestMemoryIsFlatOverAThousandCalls(t *testing.T) {
	const (
		contexts, each = 100, 10
		sites          = 10
		settled        = contexts / 4 // until then, buffers grow
		budget         = 1 << 20
	)
	store := externalEtcd(t)
	releases := orchestratedShop(t, store)
	var before uint64
	for n := range contexts {
		layContext(t, store, n+1, sites)
		for range each {
			_, err := releases.UpdateContext(t.Context(), strconv.Itoa(n+1), "pods", "")
			require.NoError(t, err)
		}
		forgetContext(t, store, n+1)
		if n == settled {
			before = inUse()
		}
	}
	after := inUse()
	t.Logf("%d KiB were in use after %d calls, %d KiB after %d", before>>10, (settled+1)*each, after>>10, contexts*each)
	require.Less(t, after, before+budget)
}

// inUse is how much of the heap is in use, in bytes.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // what has finalizers goes with the second
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
