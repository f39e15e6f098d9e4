package simulate

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
)

// crashPoints are all writes that a process may not survive the moment before
// or after.
func crashPoints() []string {
	var names []string
	for _, p := range points() {
		names = append(names, p.name)
	}
	names = append(names, "commit group", "commit name", "commit provider", "rewrite group", "withdraw group", "withdraw provider",
		"grant lease", "release lease", "create in cluster", "apply in cluster", "delete in cluster")
	slices.Sort(names)
	var out []string
	for _, name := range names {
		out = append(out, "before "+name, "after "+name)
	}
	return out
}

// rare points need luck: they are passed in few histories.
func rare() []string {
	return []string{
		"before release lease", "after release lease", "before drop release", "after drop release",
		"before plant the tree of names", "after plant the tree of names", // the tree has what this version claims
		"before forget removals", "after forget removals", // an hour after the last one
		"before permit removals", "after permit removals", "before use a permit", "after use a permit", // of names that a request was confirmed for
		"before forget leftovers", "after forget leftovers", // 30 days later
	}
}

// crashSeeds is how many histories a point gets to be passed in.
const crashSeeds = 60

// TestCrashesBeforeAndAfterEveryWrite: whichever external write a process dies
// before or after, nothing acknowledged is lost, and the world converges (I1,
// I3, I10).
func TestCrashesBeforeAndAfterEveryWrite(t *testing.T) {
	require.Greater(t, len(crashPoints()), 40)
	for n, point := range crashPoints() {
		if !sample.Every(t, n, 6) {
			continue
		}
		t.Run(point, func(t *testing.T) {
			crashed := 0
			for seed := uint64(1); seed <= crashSeeds && crashed == 0; seed++ {
				p := profileOf(seed)
				p.crashAt, p.faults = point, 0
				h := simulate(t, seed, p, nil)
				require.Nil(t, h.Broken, "%s\nseed %d: %v", h.Tail, seed, h.Broken)
				crashed += h.Points[point]
			}
			if !slices.Contains(rare(), point) {
				require.Positive(t, crashed, "no history passes there")
			}
		})
	}
}

// TestEveryWriteHasAName: none is called unnamed, and all that chance meets is
// in the list of points.
func TestEveryWriteHasAName(t *testing.T) {
	met, histories := map[string]bool{}, sample.Cases(8, 20, 80)
	for seed := range uint64(histories) {
		p := profileOf(seed)
		p.crashes = .02
		h := simulate(t, seed, p, nil)
		require.Nil(t, h.Broken, "%s\nseed %d: %v", h.Tail, seed, h.Broken)
		for point := range h.Points {
			met[point] = true
		}
	}
	require.Subset(t, crashPoints(), slices.Collect(maps.Keys(met)))
	require.Greater(t, len(met), histories/4)
}
