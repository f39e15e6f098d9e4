package handover

import (
	"cmp"
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
)

// observation is how far rsync has come with what was handed over.
type observation struct {
	seen    map[string]contextState // of the contexts of the record, when last looked
	results emco.Results
	waiting bool // rsync waits for the cluster to answer
	tried   bool // rsync has tried to reach the cluster for Context
}

// contextState is what was seen of a context: its state, as emco.State has it, and
// whether rsync works on it.
type contextState struct {
	state  string // empty: rsync does not know it yet
	gone   bool
	active bool
}

func (s contextState) in(states ...string) bool { return !s.gone && slices.Contains(states, s.state) }

// ended tells whether rsync has tried to put all of a context into the
// cluster, and does nothing about it any more.
func (s contextState) ended() bool { return !s.active && s.in("Instantiated", "InstantiateFailed") }

// look sees how far rsync has come.
func (o *observation) look(ctx context.Context, of handed) error {
	o.seen = map[string]contextState{}
	for _, id := range []string{of.record.Context, of.record.Before, of.record.Rest} {
		if id == "" {
			continue
		}
		var seen contextState
		var err error
		if seen.active, err = of.store.emco.Active(ctx, id); err != nil { // first: what is done then was written before
			return err
		}
		state, err := of.store.emco.State(ctx, id)
		if seen.gone = intent.CodeOf(err) == intent.NotFound; err != nil && !seen.gone {
			return err
		}
		seen.state = state.Current
		o.seen[id] = seen
	}
	return o.lookAtResults(ctx, of)
}

// lookAtResults sees whether rsync waits for the cluster, which it notes in its present
// context. It sees what has become of objects, which rsync notes in the first one.
func (o *observation) lookAtResults(ctx context.Context, of handed) (err error) {
	at := cmp.Or(of.record.Context, of.record.Before)
	o.results, o.waiting, o.tried = emco.Results{}, false, false
	for _, id := range []string{at, of.record.First} {
		if id == "" {
			continue
		}
		if o.results, err = of.store.emco.Results(ctx, id); err != nil {
			return err
		}
		_, tried := o.results.Waiting[of.cluster]
		o.tried = o.tried || id == at && tried
		o.waiting = o.waiting || id == at && o.seen[id].active && o.results.Waiting[of.cluster]
		if at == of.record.First {
			break
		}
	}
	return nil
}
