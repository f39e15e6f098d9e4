package probe

import (
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// publication is what one external-dns is to publish, and what of it was seen to be published. There may be very many
// DNSEndpoints: a call costs as much as it changes.
type publication struct {
	endpoints map[string]endpoint           // that are to be published, by "namespace/name", as in the other maps
	waiting   map[string]observed.Published // that it has read as they are, and was not seen to publish; without a time
	published int                           // how many of endpoints are published as they were applied
	changed   map[string]bool               // whose publication has changed since it was told
}

// endpoint is a DNSEndpoint that is to be published.
type endpoint struct {
	state.Endpoint                     // as it was applied
	through        *observed.Published // the state that was seen to be published; nil: none. Not changed any more
	counted        *ledger.Stages      // those of the last change whose publication was counted; nil: none was
}

// published tells whether it is published as it was applied.
func (e endpoint) published() bool { return e.shows(e.UID, e.Generation) }

// shows tells whether a state was seen to be published.
func (e endpoint) shows(uid string, generation int64) bool {
	return e.through != nil && e.through.Of(uid, generation)
}

func newPublication() *publication {
	return &publication{endpoints: map[string]endpoint{}, waiting: map[string]observed.Published{}, changed: map[string]bool{}}
}

// apply takes up a DNSEndpoint as it was applied.
func (p *publication) apply(key string, now state.Endpoint) {
	e := p.endpoints[key]
	e.Endpoint = now
	p.set(key, e)
}

// set changes a DNSEndpoint, or adds it.
func (p *publication) set(key string, now endpoint) {
	before := p.endpoints[key]
	p.endpoints[key] = now
	p.count(before, -1)
	p.count(now, 1)
	if now.through != before.through || now.published() && !before.published() {
		p.changed[key] = true
	}
}

// count adds a DNSEndpoint to those that are published as they were applied, if it is one.
func (p *publication) count(e endpoint, more int) {
	if e.published() {
		p.published += more
	}
}

// remove forgets a DNSEndpoint, if there is one.
func (p *publication) remove(key string) {
	e, there := p.endpoints[key]
	if !there {
		return
	}
	p.count(e, -1)
	delete(p.endpoints, key)
	delete(p.waiting, key)
	p.changed[key] = true
}

// forget forgets what was seen: there is no external-dns any more.
func (p *publication) forget() {
	for key, e := range p.endpoints {
		e.through = nil
		p.set(key, e)
		p.changed[key] = true
	}
	clear(p.waiting)
}

// look takes up what is seen of a DNSEndpoint: what the built-in publisher says of it, or what external-dns notes in its status.
func (p *publication) look(key string, watches cluster.Watches, clusterName string) {
	e, there := p.endpoints[key]
	if !there {
		return
	}
	namespace, name, _ := strings.Cut(key, "/")
	id := bundle.EndpointID(clusterName, namespace, name)
	if own, is := watches.(cluster.BuiltIn); is {
		p.hear(key, e, own, id)
		return
	}
	delete(p.waiting, key)
	live := watches.Object(id, "").Live
	if live != nil && live.Generation > 0 && live.Observed == live.Generation && !e.shows(live.UID, live.Generation) {
		p.waiting[key] = observed.Published{UID: live.UID, Generation: live.Generation}
	}
}

// hear takes up what the built-in publisher says of a DNSEndpoint.
func (p *publication) hear(key string, e endpoint, own cluster.BuiltIn, id bundle.ID) {
	switch now, is := own.Published(id); {
	case !is:
		e.through = nil
	case !e.shows(now.UID, now.Generation):
		e.through = &observed.Published{UID: now.UID, Generation: now.Generation, At: now.At}
	}
	p.set(key, e)
}

// synchronized has all that waits be published: external-dns had read it before it began, and has succeeded at a time.
func (p *publication) synchronized(at time.Time) {
	for key, now := range p.waiting {
		now.At = at
		e := p.endpoints[key]
		e.through = &now
		p.set(key, e)
	}
	clear(p.waiting)
}

// publishes answers the state of a DNSEndpoint that was seen to be published. It is nil if none of wanted, which have an
// external-dns, is to publish it any more.
func (p *publication) publishes(key string, wanted map[*publication]bool) (now *observed.Published, known bool) {
	if one, there := p.endpoints[key]; there && wanted[p] {
		return one.through, one.through != nil
	}
	for other := range wanted {
		if _, there := other.endpoints[key]; there {
			return nil, false
		}
	}
	return nil, true
}

// awaiting tells whether external-dns has read something that it is not yet
// seen to have published.
func (p *publication) awaiting() bool { return len(p.waiting) > 0 }

// unpublished counts the DNSEndpoints that were not yet seen to be published
// as they were applied.
func (p *publication) unpublished() int { return len(p.endpoints) - p.published }
