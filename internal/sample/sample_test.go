package sample_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
)

func TestEachRingHasItsNumberOfCases(t *testing.T) {
	for ring, want := range map[string]int{"": 1, "1": 1, "2": 20, "3": 300} {
		t.Setenv(sample.RingVariable, ring)
		require.Equal(t, want, sample.Cases(1, 20, 300), "ring %q", ring)
	}
}

func TestSuccessiveSeedsMeetAllPointsOnce(t *testing.T) {
	met := map[int]int{}
	for _, seed := range []string{"7", "8", "9"} {
		t.Setenv(sample.SeedVariable, seed)
		for n := range 10 {
			if sample.Every(t, n, 3) {
				met[n]++
			}
		}
	}
	require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1}, met)
}

func TestRing3MeetsAllPoints(t *testing.T) {
	t.Setenv(sample.RingVariable, "3")
	for n := range 10 {
		require.True(t, sample.Every(t, n, 3))
	}
}
