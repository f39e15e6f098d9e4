package faults

import (
	"testing"

	"github.com/signpost-dns/signpost/internal/sample"
)

// Choose chooses some of all moments to kill at, evenly spread: as many as
// usual, and all in ring 3. Where they begin follows from SIGNPOST_SEED, so that
// runs with successive seeds meet all of them.
func Choose[M any](t testing.TB, all []M, usual int) []M {
	t.Helper()
	n := min(sample.Cases(usual, usual, len(all)), len(all))
	chosen, offset := make([]M, n), int(sample.Seed(t)-1) //nolint:gosec // a seed has 32 bits
	for i := range chosen {
		chosen[i] = all[(i*len(all)/n+offset)%len(all)]
	}
	return chosen
}
