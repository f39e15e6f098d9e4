package state

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Trail has log lines name the release that is stepped. The work until the release is
// settled belongs to the trace of the accepted request. Later work follows from something
// else.
func (l *Lifecycle) Trail(ctx context.Context) context.Context {
	ctx = tracing.With(ctx, "contextID", l.ContextID)
	if l.Settled {
		return ctx
	}
	return tracing.Follow(ctx, l.Trace)
}

// Trail has what follows from a record's last pinning or update belong to the
// trace of that request, for an external-dns whose context was.
func (l *RecordLifecycle) Trail(ctx context.Context, was appcontext.Pointer) context.Context {
	if was.Since.After(l.PinnedAt) {
		return ctx
	}
	return tracing.Follow(ctx, l.Trace)
}

// Commit makes a context current, within a span that the workers go on with.
func (s *Store) Commit(ctx context.Context, was appcontext.Pointer, next appcontext.Context, when ...kv.Compare) (appcontext.Pointer, error) {
	if was.Seq > 0 && was.ContextID == next.ID {
		return was, nil
	}
	ctx, end := s.Tracer.Start(ctx, "commit app context", "owner", string(was.Owner), "contextID", next.ID)
	is, err := s.Contexts.Commit(ctx, was, next, when...)
	end(err)
	return is, err
}
