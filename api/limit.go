package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/throttle"
)

// load is what a request is to the server. Each kind has places of its own, so
// that none keeps another from being answered.
type load string

const (
	probing   load = "probe"   // is never refused
	reading   load = "read"    // GET
	writing   load = "write"   // all else: it changes something, or takes long
	receiving load = "receive" // a write, from before its body is read to its end
)

func kindOfLoad(route, method string) load {
	switch {
	case route == "/healthz", route == "/readyz", route == "/metrics":
		return probing
	case method == http.MethodGet:
		return reading
	}
	return writing
}

// places are for what is at work at once, by its kind; none for what is never
// refused.
type places map[load]*throttle.Places

const (
	maxReads = 1024 // at work at once
	bodies   = 8    // that may be on their way, for each write that is at work
)

func (o Options) places() places {
	const turn = time.Second
	return places{
		reading:   throttle.NewPlaces(maxReads, turn),
		writing:   throttle.NewPlaces(o.MaxWrites, turn),
		receiving: throttle.NewPlaces(bodies*o.MaxWrites, 0),
	}
}

// enter takes a place, or fails with TooMany; nothing has been done then. leave
// gives it back.
func (e *edge) enter(ctx context.Context, kind load) (leave func(), err error) {
	of, limited := e.places[kind]
	if !limited {
		return func() {}, nil
	}
	leave, ok := of.Enter(ctx)
	if ok {
		return leave, nil
	}
	e.metrics.shed.WithLabelValues(string(kind)).Inc()
	return nil, &intent.Error{Code: intent.TooMany, Detail: "the server is busy with " + strconv.Itoa(of.Len()) + " requests of this kind (" + string(kind) + "); try again"}
}

// senders are the shares of the places of bodies: who sends many, and slowly,
// leaves half of them to others.
func (o Options) senders() *throttle.Shares { return throttle.NewShares(bodies * o.MaxWrites / 2) }

// receive takes a place for the body of a request of who asks, or fails with
// TooMany. leave gives it back.
func (e *edge) receive(r *http.Request, actor intent.Actor) (leave func(), err error) {
	name := asker(r, actor)
	share, ok := e.senders.Take(name)
	if !ok {
		e.metrics.shed.WithLabelValues("subject").Inc()
		return nil, &intent.Error{Code: intent.TooMany, Detail: name + " sends more at once than one subject may; try again"}
	}
	place, err := e.enter(r.Context(), receiving)
	if err != nil {
		share()
		return nil, err
	}
	return func() { place(); share() }, nil
}

// asker names who asks. Nobody knows those apart who are not asked who they are,
// but by where they ask from.
func asker(r *http.Request, actor intent.Actor) string {
	if actor.Subject == access.Anonymous().Name {
		return throttle.Origin(r.RemoteAddr)
	}
	return actor.Subject
}

// takeToken takes a token of who asks, or fails with TooMany.
func (e *edge) takeToken(r *http.Request, op *operation, actor intent.Actor) error {
	if op.kind == probing {
		return nil
	}
	name := asker(r, actor)
	wait, ok := e.Buckets.Take(name)
	if ok {
		return nil
	}
	e.metrics.shed.WithLabelValues("subject").Inc()
	return &intent.Error{Code: intent.TooMany, Detail: name + " asks more often than one subject may; try again", RetryAfter: wait}
}
