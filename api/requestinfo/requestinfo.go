// Package requestinfo keeps what is known of a request under way, for the log, the
// metrics and the answer.
package requestinfo

import "context"

// Info describes a request. Only the request's own goroutine writes it.
type Info struct {
	ID    string // also in the header X-Request-ID
	Route string // the path's template; empty for a path that the API does not have
	Actor string // who asks
	Trace string // the trace that the request belongs to; empty for none
}

type key struct{}

// With returns a context that carries the Info.
func With(ctx context.Context, info *Info) context.Context {
	return context.WithValue(ctx, key{}, info)
}

// From returns the Info of a request's context; an empty one outside of a request.
func From(ctx context.Context) *Info {
	if info, ok := ctx.Value(key{}).(*Info); ok {
		return info
	}
	return &Info{}
}
