package contextupdate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/signpost-dns/signpost/pkg/emcopb"
	"github.com/signpost-dns/signpost/pkg/intent"
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
	n.actor = actor
	answer, err := e.timely(ctx, func(ctx context.Context) (any, error) { return next(ctx, request) })
	if err != nil {
		return nil, refuse(err, n.id)
	}
	return answer, nil
}

// authorize answers who calls, or why they may not.
func (e *edge) authorize(ctx context.Context) (string, error) {
	if name := certified(ctx); name != "" {
		return name, nil
	}
	if e.Authorize == nil {
		return "anonymous", nil
	}
	var header string
	if values := metadata.ValueFromIncomingContext(ctx, "authorization"); len(values) > 0 {
		header = values[0]
	}
	return e.Authorize(header)
}

// certified is the subject of the certificate that the caller has shown and
// that TLS has verified, empty for none.
func certified(ctx context.Context) string {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	info, ok := caller.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return ""
	}
	return info.State.VerifiedChains[0][0].Subject.String()
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
	const reserve = 10 // a part in so many; half of it is for work that does not heed its context
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

// limited waits for a slot: EMCO does not repeat a call that was refused, but
// aborts what it is part of.
func (e *edge) limited(ctx context.Context, work func(context.Context) (any, error)) (any, error) {
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
			e.Log.ErrorContext(ctx, "panic", "requestID", noteOf(ctx).id, "reason", reason, "stack", string(debug.Stack()))
			r = result{err: fmt.Errorf("panic: %v", reason)}
		}
	}()
	answer, err := work()
	return result{answer, err}
}
