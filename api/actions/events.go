package actions

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The bounds of a client that follows events.
const (
	LongestStream = time.Hour
	mostQueued    = 1000 // events that wait for the client
	renewEvery    = 10 * time.Second
	advanceEvery  = 15 * time.Second
)

// All lists the events of all projects that the caller may read, or follows them.
func (h History) All(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if c.Query.Get("follow") == "true" {
		return h.follow(ctx, c)
	}
	return response.OK(h.Service.All(ctx, c.Actor.Sees, c.Limit(), c.Query.Get("continue")))
}

// follow sends events as they happen.
func (h History) follow(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if c.Query.Has("limit") || c.Query.Has("continue") {
		return response.Answer{}, &intent.Error{Code: intent.Invalid, Detail: "query parameters limit and continue are for pages; leave them out with follow=true"}
	}
	after, err := lastEventID(c.Header.Get("Last-Event-ID"))
	if err != nil {
		return response.Answer{}, err
	}
	events, id, err := h.Service.Follow(ctx, after)
	if err != nil {
		return response.Answer{}, err
	}
	f := &follower{service: h.Service, actor: c.Actor, events: events, seen: id}
	return response.Answer{Status: http.StatusOK, Stream: &response.Stream{Actor: c.Actor, Serve: f.serve}}, nil
}

// lastEventID is the id that a client goes on behind, 0 for none.
func lastEventID(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, &intent.Error{Code: intent.Invalid, Detail: "header Last-Event-ID must be the id of the last event that was received"}
	}
	return id, nil
}

// follower is one client that follows events.
type follower struct {
	service service.History
	actor   intent.Actor
	events  <-chan intent.FollowedEvent
	seen    int64 // the id up to which all events were handled
}

// end is why a stream ends.
type end struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// serve sends events until there is a reason to end.
func (f *follower) serve(ctx context.Context, out *response.Events, renew func() (intent.Actor, error)) {
	if out.Send(f.seen, "start", struct{}{}) != nil {
		return
	}
	queue, slow := f.queue()
	renewal, advance := time.NewTicker(renewEvery), time.NewTicker(advanceEvery)
	defer renewal.Stop()
	defer advance.Stop()
	for {
		var why *end
		select {
		case <-slow:
			why = &end{"slow", "the client reads more slowly than events happen; follow again with the last id"}
		case <-renewal.C:
			why = f.renew(renew)
		case <-advance.C:
			if f.advance(ctx, out) != nil {
				return
			}
		case e, ok := <-queue:
			if !ok {
				why = &end{"closing", "the server ends, or the stream has lasted an hour; follow again with the last id"}
			} else if why = lost(e); why == nil && f.send(out, e) != nil {
				return
			}
		}
		if why != nil {
			_ = out.Send(0, "end", why) // nobody may be there to read it
			return
		}
	}
}

// queue is where events wait for the client. If it is full, slow is closed, and no
// further event is taken.
func (f *follower) queue() (queue <-chan intent.FollowedEvent, slow <-chan struct{}) {
	waiting, full := make(chan intent.FollowedEvent, mostQueued), make(chan struct{})
	go func() {
		for e := range f.events {
			select {
			case waiting <- e:
			default:
				close(full)
				return
			}
		}
		close(waiting)
	}()
	return waiting, full
}

// renew finds out what the caller may read by now.
func (f *follower) renew(renew func() (intent.Actor, error)) *end {
	actor, err := renew()
	switch code := intent.CodeOf(err); {
	case code == intent.Unavailable || code == intent.TooMany:
		return &end{"closing", response.ProblemOf(err).Detail}
	case err != nil:
		return &end{"unauthorized", response.ProblemOf(err).Detail}
	}
	f.actor = actor
	return nil
}

// advance keeps the client's id from growing old while nothing happens.
func (f *follower) advance(ctx context.Context, out *response.Events) error {
	if id, err := f.service.Reached(ctx, f.seen); err == nil {
		f.seen = id
	}
	return out.Advance(f.seen)
}

// lost is the end of a stream of which events are missing.
func lost(e intent.FollowedEvent) *end {
	if !e.Lost {
		return nil
	}
	return &end{"gone", "events were missed that are not kept any more; read GET /v2/events, then follow without Last-Event-ID"}
}

// send sends an event, if the caller may read what it is about.
func (f *follower) send(out *response.Events, e intent.FollowedEvent) error {
	f.seen = e.ID
	if !f.actor.Sees(e.Event.Path.Segment("projects")) {
		return nil
	}
	return out.Send(e.ID, "event", e.Event)
}
