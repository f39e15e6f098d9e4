package admission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAProjectThatIsNotStoredReservesNothing checks that no reservation outlives
// a Put that fails.
func TestAProjectThatIsNotStoredReservesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write, err := w.admit(newProject, `{"namespace":"dns"}`)
	require.NoError(t, err)
	write.Condition = intent.IfRevision(7)
	_, err = w.admitter.Put(t.Context(), write)
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	reservations := intent.ListOptions{Collection: intent.NamespaceCollection, NamePrefix: "dns/"}
	reserved, err := w.store.List(t.Context(), reservations)
	require.NoError(t, err)
	require.Empty(t, reserved.Items)

	w.must(newProject, `{"namespace":"dns"}`)
	reserved, err = w.store.List(t.Context(), reservations)
	require.NoError(t, err)
	require.Len(t, reserved.Items, 1)
}
