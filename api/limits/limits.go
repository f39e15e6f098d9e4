// Package limits bounds what requests take of the server: places to work at, memory,
// and how often each subject asks.
package limits

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Kind is what a request is to the server. Each kind has places of its own, so that
// none keeps another from being answered.
type Kind string

// The kinds of requests.
const (
	Probe   Kind = "probe"   // is never refused
	Read    Kind = "read"    // GET
	Write   Kind = "write"   // all else: it changes something, or takes long
	Stream  Kind = "stream"  // an answer that goes on as events happen
	Receive Kind = "receive" // a write, from before its body is read to its end
)

// KindOf returns the kind of the requests with a method to a route.
func KindOf(route, method string) Kind {
	switch {
	case route == "/healthz", route == "/readyz", route == "/metrics":
		return Probe
	case method == http.MethodGet:
		return Read
	}
	return Write
}

// Relieves reports whether requests with a method to a route take something away.
func Relieves(route, method string) bool {
	return method == http.MethodDelete || strings.HasSuffix(route, "/terminate")
}

// pool is the places of a kind, and the shares of them. A client that asks for much at
// once leaves half of them to others.
type pool struct {
	all    *throttle.Places
	shares *throttle.Shares
}

// newPool makes n places. A request that finds none free waits for a turn. It waits
// longer for a place of the client's share, because that costs nobody else anything.
func newPool(n int, turn time.Duration) pool {
	const patience = 5 // turns
	return pool{throttle.NewPlaces(n, turn), throttle.NewShares(n/2, patience*turn)}
}

const (
	maxReads = 1024 // at work at once

	maxStreams = 256 // at once
	ownStreams = 16  // of them, of one client
	bodies     = 8   // that may be on their way, for each write that is at work
)

// Turn is how long a request waits that finds no place.
const Turn = time.Second

// Options configure a Limiter.
type Options struct {
	MaxBytes  int64             // of memory that requests take at once
	MaxBody   int64             // bytes of the largest body
	MaxWrites int               // requests other than reads that are at work at once
	Buckets   *throttle.Buckets // how often each subject may ask; nil: as often as it likes
	Scarce    func() bool       // whether little memory is left
	Shed      func(why string)  // is told of each request that is refused
}

// Limiter bounds what requests take of the server. It is safe for concurrent use.
type Limiter struct {
	Options
	pools map[Kind]pool // none for a kind that is never refused
	bytes *throttle.Bytes
}

// New makes a Limiter.
func New(o Options) *Limiter {
	return &Limiter{Options: o, bytes: throttle.NewBytes(o.MaxBytes, Turn), pools: map[Kind]pool{
		Read:    newPool(maxReads, Turn),
		Stream:  {throttle.NewPlaces(maxStreams, 0), throttle.NewShares(ownStreams, 0)},
		Write:   newPool(o.MaxWrites, Turn),
		Receive: newPool(min(bodies*o.MaxWrites, max(int(o.MaxBytes/o.MaxBody), o.MaxWrites)), 0),
	}}
}

// Enter takes a place for a client, or fails with TooMany; nothing has been done
// then. leave gives the place back.
func (l *Limiter) Enter(ctx context.Context, kind Kind, clientKey string) (leave func(), err error) {
	of, limited := l.pools[kind]
	if !limited {
		return func() {}, nil
	}
	share, ok := of.shares.Take(ctx, clientKey)
	if !ok {
		l.Shed("subject")
		return nil, &intent.Error{Code: intent.TooMany, Detail: clientKey + " asks for more at once than one subject may (" + string(kind) + "); try again"}
	}
	place, ok := of.all.Enter(ctx)
	if !ok {
		share()
		l.Shed(string(kind))
		return nil, &intent.Error{Code: intent.TooMany, Detail: "the server is busy with " + strconv.Itoa(of.all.Len()) + " requests of this kind (" + string(kind) + "); try again"}
	}
	return func() { place(); share() }, nil
}

// Demand is what a request asks for in memory.
type Demand struct {
	Kind     Kind
	Public   bool // is for everybody; the answer is in memory already
	Relieves bool // takes something away, which frees memory
	Bytes    int64
}

// TakeMemory takes the memory that a request needs, or fails with Unavailable; nothing
// has been done then. It is nil for a request that needs none.
func (l *Limiter) TakeMemory(ctx context.Context, clientKey string, d Demand) (taken *throttle.Taken, err error) {
	if d.Kind == Probe {
		return nil, nil
	}
	if d.Relieves || !l.Scarce() {
		if d.Public {
			return nil, nil
		}
		if taken, ok := l.bytes.Take(ctx, clientKey, d.Bytes); ok {
			return taken, nil
		}
	}
	l.Shed("memory")
	return nil, &intent.Error{Code: intent.Unavailable, Detail: "the server has too little memory for the requests that are under way; nothing was done; try again", RetryAfter: Turn}
}

// ClientKey names who asks: the subject, or the address of callers who are not
// authenticated.
func ClientKey(r *http.Request, actor intent.Actor) string {
	if actor.Subject == access.Anonymous().Name {
		return throttle.Origin(r.RemoteAddr)
	}
	return actor.Subject
}

// TakeToken counts a request of a client, or fails with TooMany.
func (l *Limiter) TakeToken(kind Kind, clientKey string) error {
	if kind == Probe {
		return nil
	}
	wait, ok := l.Buckets.Take(clientKey)
	if ok {
		return nil
	}
	l.Shed("subject")
	return &intent.Error{Code: intent.TooMany, Detail: clientKey + " asks more often than one subject may; try again", RetryAfter: wait}
}
