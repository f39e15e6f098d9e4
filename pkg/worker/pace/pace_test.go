package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaitsDoubleUpToTheLongest checks that an object that fails for days is still
// tried each time.
func TestWaitsDoubleUpToTheLongest(t *testing.T) {
	t.Parallel()
	require.Equal(t, RetryFirst, Backoff(RetryFirst, RetryLongest, 0))
	require.Equal(t, 4*RetryFirst, Backoff(RetryFirst, RetryLongest, 2))
	before := time.Duration(0)
	for count := range 200 {
		wait := Backoff(RetryFirst, RetryLongest, count)
		require.GreaterOrEqual(t, wait, before)
		require.LessOrEqual(t, wait, RetryLongest)
		before = wait
	}
	require.Equal(t, RetryLongest, before)
}
