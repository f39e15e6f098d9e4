package apply

import (
	"context"
	"errors"

	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// tracedAttempts is how often an action is tried within the trace that it
// follows from: one that never succeeds must not make that endless.
const tracedAttempts = 10

// traced tags the context of an action with the app context and the trace that led
// to it; repairs have none.
func (t *Applier) traced(ctx context.Context, a action, entry ledger.Entry) context.Context {
	owners := ownersOf(a.want, &entry)
	if len(owners) == 0 {
		return ctx
	}
	pointer := t.Index.Pointer(owners[0])
	ctx = tracing.With(ctx, "contextID", pointer.ContextID)
	switch {
	case a.drift:
		return ctx
	case a.want != nil:
		return tracing.Follow(ctx, a.want.Trace)
	}
	return tracing.Follow(ctx, pointer.Trail())
}

// perform does one action, within a span.
func (t *Applier) perform(ctx context.Context, p *performer, a action, entry ledger.Entry) outcome {
	if t.attempts[a.id].count >= tracedAttempts {
		return p.perform(ctx, a, entry)
	}
	ctx, end := t.tracer.Start(t.traced(ctx, a, entry), string(a.operation)+" "+a.id.Kind,
		"cluster", t.Name, "namespace", a.id.Namespace, "name", a.id.Name, "why", a.why)
	o := p.perform(ctx, a, entry)
	end(o.err())
	return o
}

// err is why another attempt is needed, nil when none is.
func (o outcome) err() error {
	if o.fault == "" && !o.conflict {
		return nil
	}
	return errors.New(o.entry.Message)
}
