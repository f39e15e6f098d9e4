package recent_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// TestTheOldestIsForgotten: a value that is kept again is the newest.
func TestTheOldestIsForgotten(t *testing.T) {
	t.Parallel()
	var m recent.Memory[string, int]
	_, known := m.Get("a")
	require.False(t, known)
	m.Forget("a")
	for n, key := range []string{"a", "b", "a", "c"} {
		m.Keep(key, n, 2)
	}
	_, known = m.Get("b")
	require.False(t, known)
	value, known := m.Get("a")
	require.True(t, known)
	require.Equal(t, 2, value)
	value, known = m.Get("c")
	require.True(t, known)
	require.Equal(t, 3, value)
	m.Forget("a")
	m.Keep("d", 4, 2)
	_, known = m.Get("c")
	require.True(t, known, "there is room")
}

// TestTheNewestAreRemembered: as a list of the keys says that is searched at each call.
func TestTheNewestAreRemembered(t *testing.T) {
	t.Parallel()
	const keys, most = 60, 40
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that repeats
	var m recent.Memory[int, int]
	var newest []int
	for n := range 5000 {
		key := random.IntN(keys)
		newest = slices.DeleteFunc(newest, func(other int) bool { return other == key })
		if random.IntN(5) == 0 {
			m.Forget(key)
		} else {
			m.Keep(key, n, most)
			newest = append(newest, key)
			newest = newest[max(0, len(newest)-most):]
		}
		for key := range keys {
			_, known := m.Get(key)
			require.Equal(t, slices.Contains(newest, key), known, "%d after %d calls", key, n)
		}
	}
}
