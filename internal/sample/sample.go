// Package sample decides how much of a long search one run of the tests does.
//
// The environment variable SIGNPOST_RING names the ring: 1 is "make test" and
// the default, 2 is "make test-real", 3 is "make test-deep". SIGNPOST_SEED is
// the first seed of random cases. Without it, the first seed is 1, so that
// ring 1 does the same on each machine. "make test-real" derives it from the
// commit: each commit tries cases that no commit tried before.
package sample

import (
	"os"
	"strconv"
	"testing"
)

// Names of the environment variables.
const (
	RingVariable = "SIGNPOST_RING"
	SeedVariable = "SIGNPOST_SEED"
)

// Cases returns how many cases this run's ring tries, one number for each ring.
func Cases(test, inReal, deep int) int {
	switch os.Getenv(RingVariable) {
	case "3":
		return deep
	case "2":
		return inReal
	default:
		return test
	}
}

// Seed returns the first seed of this run and logs it, so that a failure can be
// repeated with SIGNPOST_SEED.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv(SeedVariable)
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s=%q is not a number from 0 to %d", SeedVariable, text, uint64(1<<32-1))
	}
	t.Logf("%s=%d", SeedVariable, seed)
	return seed
}

// Every reports whether point n is in this run's share of a search over all points. The
// share is one in share in rings 1 and 2, and all points in ring 3. The seed selects the
// points, so that runs with successive seeds meet all of them.
func Every(t testing.TB, n, share int) bool {
	t.Helper()
	if Cases(0, 0, 1) == 1 {
		return true
	}
	return uint64(n)%uint64(share) == Seed(t)%uint64(share) //nolint:gosec // both are counts
}
