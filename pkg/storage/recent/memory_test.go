package recent_test

import (
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
