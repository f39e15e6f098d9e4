package namehistory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestReleasesThatKeptTheTargetsGoFirst, but not the newest one: who stamps a document at each build forgets no change.
func TestReleasesThatKeptTheTargetsGoFirst(t *testing.T) {
	t.Parallel()
	turn := func(reason string, release int64, changes ...intent.TargetChange) intent.NameTurn {
		return intent.NameTurn{Cause: intent.Cause{Reason: reason, Release: release}, Changes: changes}
	}
	lost := turn(intent.CauseDrain, 0, intent.TargetChange{Removed: []string{"192.0.2.1"}})
	first := turn(intent.CauseRelease, 1, intent.TargetChange{Added: []string{"192.0.2.1"}})
	d := document{Turns: []intent.NameTurn{first, turn(intent.CauseRelease, 2), lost, turn(intent.CauseRelease, 3)}}
	d.keep(3)
	require.Equal(t, []intent.NameTurn{first, lost, turn(intent.CauseRelease, 3)}, d.Turns)
	d.keep(2)
	require.Equal(t, []intent.NameTurn{lost, turn(intent.CauseRelease, 3)}, d.Turns)
}
