package release_test

import (
	"testing"

	"github.com/signpost-dns/signpost/internal/sample"
)

// seeds returns the seeds of this run's random histories, one number of them
// for each ring.
func seeds(t testing.TB, ring1, ring2, ring3 int) []uint64 {
	t.Helper()
	first := sample.Seed(t)
	var all []uint64
	for n := range sample.Cases(ring1, ring2, ring3) {
		all = append(all, first+uint64(n)) //nolint:gosec // a count
	}
	return all
}

// share is the part of all points in a story at which a run of rings 1 and 2
// lets a process die or others interfere: one in so many. It is odd, so that
// deaths before and after a write take turns.
const share = 7

// deaths calls try for this run's share of the points at which a process may
// die that asks for so many writes: before and after each of them.
func deaths(t *testing.T, writes int, try func(last int, after bool)) {
	t.Helper()
	tried := 0
	for point := range 2 * writes {
		if sample.Every(t, point, share) {
			try(1+point/2, point%2 == 1)
			tried++
		}
	}
	if tried == 0 {
		t.Fatalf("none of the %d points was tried", 2*writes)
	}
}
