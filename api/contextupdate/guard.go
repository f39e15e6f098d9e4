package contextupdate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// guarded lets calls to contextupdate through that may be made, and answers
// them in time. Health and reflection are for everybody.
func (e *edge) guarded(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if !strings.HasPrefix(info.FullMethod, "/"+emcopb.Contextupdate_ServiceDesc.ServiceName+"/") {
		return next(ctx, request)
	}
	n := noteOf(ctx)
	actor, err := e.authorize(ctx)
	if err != nil {
		return nil, refuse(err, n.id)
	}
	n.actor, actor.RequestID = actor.Subject, n.id
	if from, ok := peer.FromContext(ctx); ok && from.LocalAddr != nil {
		e.Connections.Known(from.Addr.String(), from.LocalAddr.String(), actor.Subject)
	}
	ctx, end := e.Tracer.Start(tracing.Follow(intent.As(ctx, actor), sent(ctx, "traceparent")), info.FullMethod, "requestID", n.id, "actor", n.actor)
	n.trace = tracing.TraceID(ctx)
	answer, err := e.timely(ctx, func(ctx context.Context) (any, error) { return next(ctx, request) })
	end(err)
	if err != nil {
		return nil, refuse(err, n.id)
	}
	return answer, nil
}

// few lets as many streams go on at once as there are places.
func (e *edge) few(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	select {
	case e.streams <- struct{}{}:
		defer func() { <-e.streams }()
		return next(service, arriving{stream})
	default:
		return status.Error(codes.ResourceExhausted, fmt.Sprintf("%d streams are open; try again", cap(e.streams)))
	}
}

// authorize answers who calls, or why they may not.
func (e *edge) authorize(ctx context.Context) (intent.Actor, error) {
	if e.Authorize == nil {
		return access.Anonymous().Actor(), nil
	}
	return e.Authorize(ctx, callerOf(ctx))
}

// sent is the metadata of a name that came with a call, empty for none.
func sent(ctx context.Context, name string) string {
	if values := metadata.ValueFromIncomingContext(ctx, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// callerOf is what the caller has shown.
func callerOf(ctx context.Context) access.Caller {
	c := access.Caller{Authorization: strings.Join(metadata.ValueFromIncomingContext(ctx, "authorization"), ", ")}
	from, ok := peer.FromContext(ctx)
	if !ok {
		return c
	}
	c.Address = from.Addr.String()
	if info, ok := from.AuthInfo.(credentials.TLSInfo); ok {
		c.TLS = &info.State
	}
	return c
}

// result is what a call came to.
type result struct {
	answer any
	err    error
}

// timely ends a call in time for the caller to hear of it: the work has nine
// tenths of the time that the caller waits. Work that goes on beyond that is
// answered for, and keeps its slot until it ends.
func (e *edge) timely(ctx context.Context, work func(context.Context) (any, error)) (any, error) {
	patience := e.Patience
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline)
	}
	const reserve = 10 // one part in so many; half of it is for work that ignores its context
	began := time.Now()
	working, cancel := context.WithTimeout(ctx, patience-patience/reserve)
	done := make(chan result, 1)
	go func() {
		defer cancel()
		done <- e.recovered(working, func() (any, error) { return e.limited(working, work) })
	}()
	last := time.NewTimer(patience - patience/reserve/2)
	defer last.Stop()
	select {
	case r := <-done:
		if r.err != nil && givenUp(working, r.err) {
			return nil, &late{after: time.Since(began), err: r.err}
		}
		return r.answer, r.err
	case <-last.C:
		return nil, &late{after: time.Since(began)}
	}
}

// givenUp tells whether work failed for want of time, and for no better reason.
func givenUp(working context.Context, err error) bool {
	code := intent.CodeOf(err)
	return errors.Is(context.Cause(working), context.DeadlineExceeded) && (code == "" || code == intent.Unavailable)
}

// limited waits for a token of the caller's, and then for a slot. EMCO does not repeat a
// refused call, but aborts the whole operation.
func (e *edge) limited(ctx context.Context, work func(context.Context) (any, error)) (any, error) {
	subject := intent.By(ctx).Subject
	if err := e.Buckets.Wait(ctx, subject); err != nil {
		return nil, &intent.Error{Code: intent.TooMany, Detail: subject + " calls more often than one subject may, and this call would not get its turn in time", Err: err}
	}
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
		return work(ctx)
	case <-ctx.Done():
		detail := fmt.Sprintf("%d calls are under way, and this one did not get its turn", cap(e.slots))
		return nil, &intent.Error{Code: intent.Unavailable, Detail: detail, Err: ctx.Err()}
	}
}

// recovered turns a panic into an error.
func (e *edge) recovered(ctx context.Context, work func() (any, error)) (r result) {
	defer func() {
		if reason := recover(); reason != nil {
			e.Log.ErrorContext(ctx, "panic", "reason", reason, "stack", string(debug.Stack()))
			r = result{err: fmt.Errorf("panic: %v", reason)}
		}
	}()
	answer, err := work()
	return result{answer, err}
}
