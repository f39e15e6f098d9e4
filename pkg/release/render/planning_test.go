package render

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// manyChanges alternate between objects that are created and those that stay.
func manyChanges(n int) []bundle.Change {
	var changes []bundle.Change
	for at := range n {
		c := bundle.Change{Action: bundle.Create, New: []byte("{}")}
		c.ID = bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("c%06d", at)}
		if at%2 == 1 {
			c.Action, c.Old = bundle.Unchanged, c.New
		}
		changes = append(changes, c)
	}
	return changes
}

// TestAPlanListsAsManyObjectsAsThereIsRoomFor: those that nothing happens to are left
// out first, and what is left out is counted.
func TestAPlanListsAsManyObjectsAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes int
		left    *intent.ObjectCounts
	}{
		"few":                {1000, nil},
		"all that change":    {40_000, &intent.ObjectCounts{Unchanged: 16_437}},
		"not even all of it": {100_000, &intent.ObjectCounts{Create: 26_437, Unchanged: 50_000}},
	} {
		objects, left, err := Objects(t.Context(), manyChanges(c.changes))
		require.NoError(t, err, name)
		require.Equal(t, c.left, left, name)
		listed := c.changes
		if left != nil {
			listed -= left.Create + left.Unchanged
		}
		require.Len(t, objects, listed, name)
		raw, err := json.Marshal(objects)
		require.NoError(t, err)
		require.Less(t, len(raw), maxListed+maxDiffs, name)
	}
}

// TestDiffsEndWithTheirRequest: nobody waits for the rest.
func TestDiffsEndWithTheirRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Objects(ctx, manyChanges(10))
	require.ErrorIs(t, err, context.Canceled)
}
