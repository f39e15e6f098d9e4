package contextupdate

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"
)

// receiving is how long the message of a call may take to come to its end. A caller
// that stops within it would keep the stream for ever.
const receiving = 10 * time.Second

type arrivalKey struct{}

// begin bounds a stream before it is made. The stream ends unless its message arrives in
// time, and counts for its connection if the caller is unknown until then.
func (e *edge) begin(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if from, ok := peer.FromContext(ctx); ok && from.LocalAddr != nil {
		context.AfterFunc(ctx, e.Connections.Ask(from.Addr.String(), from.LocalAddr.String()))
	}
	ctx, end := context.WithCancel(ctx)
	arrival := time.AfterFunc(receiving, end)
	context.AfterFunc(ctx, func() { arrival.Stop() })
	return context.WithValue(ctx, arrivalKey{}, arrival), nil
}

// arrived tells that the message of a call is there.
func arrived(ctx context.Context) {
	if arrival, ok := ctx.Value(arrivalKey{}).(*time.Timer); ok {
		arrival.Stop()
	}
}

// arriving is a stream that is bounded until its first message is there.
type arriving struct{ grpc.ServerStream }

func (s arriving) RecvMsg(message any) error {
	err := s.ServerStream.RecvMsg(message)
	if err == nil {
		arrived(s.Context())
	}
	return err
}
