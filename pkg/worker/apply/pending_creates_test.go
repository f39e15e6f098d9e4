package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

func TestDoubtsEndWhileTheClusterAnswers(t *testing.T) {
	t.Parallel()
	now, id := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), bundle.ID{Name: "a"}
	d := pendingCreates{}
	d.inherit(map[bundle.ID]ledger.Entry{
		id:          {Status: ledger.Pending},
		{Name: "b"}: {Status: ledger.Applied},
		{Name: "c"}: {Status: ledger.Failed},
	}, now)
	require.Equal(t, pendingCreates{id: now}, d)
	require.True(t, d.holds(id, now.Add(LandsWithin-1)))
	require.False(t, d.holds(id, now.Add(LandsWithin)))
	d.answers(true, now.Add(time.Hour))
	require.True(t, d.holds(id, now.Add(time.Hour+LandsWithin-1)), "what was under way comes when the cluster does")
	d.answers(false, now.Add(2*time.Hour))
	require.Empty(t, d)
}
