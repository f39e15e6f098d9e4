package api

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
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

func relieves(route, method string) bool {
	return method == http.MethodDelete || strings.HasSuffix(route, "/terminate")
}

// places are for what is at work at once, by its kind; none for what is never
// refused.
type places map[load]room

// room is the places of a kind, and the shares of them: whoever asks for much at
// once, or for what takes long, leaves half of them to others.
type room struct {
	all    *throttle.Places
	shares *throttle.Shares
}

// newRoom is n places. Who finds none free waits for a turn; for one of the own
// share longer, which costs nobody else anything.
func newRoom(n int, turn time.Duration) room {
	const patience = 5 // turns
	return room{throttle.NewPlaces(n, turn), throttle.NewShares(n/2, patience*turn)}
}

const (
	maxReads = 1024 // at work at once
	bodies   = 8    // that may be on their way, for each write that is at work
)

// turn is how long a request waits that finds no place.
const turn = time.Second

func (o Options) places() places {
	return places{
		reading:   newRoom(maxReads, turn),
		writing:   newRoom(o.MaxWrites, turn),
		receiving: newRoom(min(bodies*o.MaxWrites, max(int(o.MaxBytes/maxBody), o.MaxWrites)), 0),
	}
}

// enter takes a place for who asks, or fails with TooMany; nothing has been done
// then. leave gives it back.
func (e *edge) enter(ctx context.Context, kind load, asker string) (leave func(), err error) {
	of, limited := e.places[kind]
	if !limited {
		return func() {}, nil
	}
	share, ok := of.shares.Take(ctx, asker)
	if !ok {
		e.metrics.shed.WithLabelValues("subject").Inc()
		return nil, &intent.Error{Code: intent.TooMany, Detail: asker + " asks for more at once than one subject may (" + string(kind) + "); try again"}
	}
	place, ok := of.all.Enter(ctx)
	if !ok {
		share()
		e.metrics.shed.WithLabelValues(string(kind)).Inc()
		return nil, &intent.Error{Code: intent.TooMany, Detail: "the server is busy with " + strconv.Itoa(of.all.Len()) + " requests of this kind (" + string(kind) + "); try again"}
	}
	return func() { place(); share() }, nil
}

// weight is how many bytes of memory a request takes, as far as that can be told: so
// many times what it brings and may read, and what its body becomes.
func (op *operation) weight(c *call, sent received) int64 {
	const times = 4
	most := int64(intent.MaxBody)
	if op.pages {
		most = min(int64(c.limit())*most, intent.PageBytes)
	}
	return times*(most+int64(len(sent.raw))) + sent.decoded()
}

// weigh takes the memory that a request needs, or fails with Unavailable; nothing
// has been done then. What is for everybody needs none: it is there already, and
// strangers would take it from those who are known.
func (e *edge) weigh(r *http.Request, op *operation, c *call, sent received) (taken *throttle.Taken, err error) {
	if op.kind == probing {
		return nil, nil
	}
	if op.relieves || !e.Scarce() {
		if op.public {
			return nil, nil
		}
		if taken, ok := e.bytes.Take(r.Context(), asker(r, c.actor), op.weight(c, sent)); ok {
			return taken, nil
		}
	}
	e.metrics.shed.WithLabelValues("memory").Inc()
	return nil, &intent.Error{Code: intent.Unavailable, Detail: "the server has too little memory for the requests that are under way; nothing was done; try again", RetryAfter: turn}
}

// asker names who asks. Nobody knows those apart who are not asked who they are,
// but by where they ask from.
func asker(r *http.Request, actor intent.Actor) string {
	if actor.Subject == access.Anonymous().Name {
		return throttle.Origin(r.RemoteAddr)
	}
	return actor.Subject
}

// ask counts a request until its answer is taken, if nobody is known by its
// connection.
func ask(of *throttle.Connections, w http.ResponseWriter, r *http.Request) (done func()) {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return func() {}
	}
	end := of.Ask(r.RemoteAddr, local.String())
	return func() {
		if r.ProtoMajor > 1 { // whose small answers are written when all else has ended
			_ = http.NewResponseController(w).Flush()
		}
		end()
	}
}

// acquaint tells whose request a connection has carried: that of somebody who may
// ask for what is not for everybody.
func (e *edge) acquaint(r *http.Request, op *operation, actor intent.Actor) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && !op.public {
		e.Connections.Known(r.RemoteAddr, local.String(), asker(r, actor))
	}
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
