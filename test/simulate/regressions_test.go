package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegressions: histories that once failed, or fail again when their bug is
// put back.
func TestRegressions(t *testing.T) {
	for name, number := range map[string]uint64{
		"a write to the ledger happens after its answer was given up": 366,
		"a definition that lost its label is used as it is":           913,
	} {
		t.Run(name, func(t *testing.T) {
			h := simulate(t, number, drawn(number), nil)
			require.Nil(t, h.Broken, "%s\nseed %d: %v", h.Tail, number, h.Broken)
		})
	}
}
