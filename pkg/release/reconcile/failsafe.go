package reconcile

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/release/state"
)

// failSafe records the names whose addresses stay although their clusters are lost, once
// for each time that most clusters fail at once.
func (s *Reconciler) failSafe(_ context.Context, on *step) (state.Outcome, error) {
	held := on.next.FailSafe(on.group, s.Now().UTC())
	if len(held) > 0 && !on.lifecycle.FailSafe {
		state.RecordNames(s.Names, held)
	}
	on.lifecycle.FailSafe = len(held) > 0
	return state.Onward, nil
}
