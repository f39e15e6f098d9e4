package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestADrainIsToldWithItsFailover, or else with its reason: that of a failover is for those who may read its record.
func TestADrainIsToldWithItsFailover(t *testing.T) {
	t.Parallel()
	require.Empty(t, intent.Drained{Actor: "ann"}.Because())
	require.Equal(t, "; reason: flood", intent.Drained{Reason: "flood"}.Because())
	require.Equal(t, "; failover f1", intent.Drained{Reason: "flood", Failover: "f1"}.Because())
}
