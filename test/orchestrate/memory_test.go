package orchestrate

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/emco"
)

// TestMemoryIsFlatOverAThousandCalls: the calls are repeated for contexts that
// come and go.
func TestMemoryIsFlatOverAThousandCalls(t *testing.T) {
	t.Parallel()
	const warm, count, growth = 200, 1000, 1.15
	s := newStage(t)
	before := 0
	for n := range warm + count {
		if n == warm {
			before = s.resident()
		}
		id := emco.NewID()
		require.NoError(t, s.WriteContextAtOnce(t.Context(), s.context(id, prod(), paris, berlin)))
		require.NoError(t, s.adapt(t.Context(), id, emco.NoContext))
		require.NoError(t, s.DeleteContext(t.Context(), id))
	}
	after := s.resident()
	t.Logf("%d KiB are resident after %d calls, %d KiB after %d more", before, warm, after, count)
	require.Less(t, float64(after), growth*float64(before))
}

// resident is how much of Signpost is in memory, in KiB.
func (s *stage) resident() int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.signpost.PID()))
	require.NoError(s, err)
	_, rest, found := strings.Cut(string(text), "VmRSS:")
	require.True(s, found, "%s", text)
	size, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(s, err)
	return size
}
