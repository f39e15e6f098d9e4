package state

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Reconciler is one named part of a step. It works on the world, and on the step's
// copy of a lifecycle, which is stored once, after the last of them.
type Reconciler[Step any] struct {
	Name      string
	Reconcile func(ctx context.Context, on *Step) (Outcome, error)
	Release   bool // its errors are failures of the release
}

// Outcome says how a step goes on behind one of its reconcilers.
type Outcome int

// The outcomes of a reconciler.
const (
	Onward Outcome = iota // to the next reconciler
	Again                 // the step ends here: what follows needs it stored, or something new has come
	AtRest                // the step ends here: there is nothing to wait for
)

// Reconcile makes one reconciler after the other work on a step, until one of them
// ends it, and answers the last one. A reconciler that fails leaves the step as it was.
func Reconcile[Step any](ctx context.Context, on *Step, all []Reconciler[Step]) (outcome Outcome, last Reconciler[Step], err error) {
	for _, last = range all {
		before := *on
		outcome, err = last.Reconcile(tracing.With(ctx, "reconciler", last.Name), on)
		if err != nil {
			*on = before
			return Again, last, err
		}
		if outcome != Onward {
			break
		}
	}
	return outcome, last, nil
}
