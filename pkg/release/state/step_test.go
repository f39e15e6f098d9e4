package state

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAStepEndsWhereAReconcilerSaysSo: as that leaves it, or as it was before one that
// fails.
func TestAStepEndsWhereAReconcilerSaysSo(t *testing.T) {
	t.Parallel()
	type step struct{ did string }
	part := func(name string, outcome Outcome, err error) Reconciler[step] {
		return Reconciler[step]{Name: name, Reconcile: func(_ context.Context, on *step) (Outcome, error) {
			on.did += name
			return outcome, err
		}}
	}
	a, z, fails := part("a", Onward, nil), part("z", Onward, nil), errors.New("it fails")
	for _, c := range []struct {
		all       []Reconciler[step]
		outcome   Outcome
		did, last string
		err       error
	}{
		{[]Reconciler[step]{a, z}, Onward, "az", "z", nil},
		{[]Reconciler[step]{a, part("b", Again, nil), z}, Again, "ab", "b", nil},
		{[]Reconciler[step]{a, part("b", AtRest, nil), z}, AtRest, "ab", "b", nil},
		{[]Reconciler[step]{a, part("b", AtRest, fails), z}, Again, "a", "b", fails},
	} {
		on := &step{}
		outcome, last, err := Reconcile(t.Context(), on, c.all)
		require.Equal(t, c.err, err)
		require.Equal(t, c.outcome, outcome)
		require.Equal(t, c.did, on.did)
		require.Equal(t, c.last, last.Name)
	}
}
