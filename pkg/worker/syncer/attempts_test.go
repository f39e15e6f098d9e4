package syncer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaitsDoubleUpToTheLongest checks that an object that fails for days is still
// tried each time.
func TestWaitsDoubleUpToTheLongest(t *testing.T) {
	t.Parallel()
	require.Equal(t, waitFirst, backoff(waitFirst, waitLongest, 0))
	require.Equal(t, 4*waitFirst, backoff(waitFirst, waitLongest, 2))
	before := time.Duration(0)
	for count := range 200 {
		wait := backoff(waitFirst, waitLongest, count)
		require.GreaterOrEqual(t, wait, before)
		require.LessOrEqual(t, wait, waitLongest)
		before = wait
	}
	require.Equal(t, waitLongest, before)
}
