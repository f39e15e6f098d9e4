package builtin

import (
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// said is what a publisher's goroutine tells others.
type said struct {
	mu        sync.Mutex
	told      cluster.Publishing
	published map[bundle.ID]cluster.Published // DNSEndpoints whose names are all written
	upTo      progress
}

// progress is how far a publisher has come with what it was to remove.
type progress struct {
	known bool
	turn  int64           // of the view that it has taken up
	left  map[string]bool // names that are still to be removed, or have failed
}

// tell tells how the publisher does. It answers whether that is news.
func (s *said) tell(now cluster.Publishing) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news = !equal(s.told, now)
	s.told = now
	return news
}

// publish tells which states of DNSEndpoints are published, the zero value for none. It answers the DNSEndpoints for which
// that is news. A state keeps its time.
func (s *said) publish(now map[bundle.ID]cluster.Published) (news []bundle.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range now {
		before := s.published[id]
		if before.UID == p.UID && before.Generation == p.Generation {
			continue
		}
		news = append(news, id)
		if p.UID == "" {
			delete(s.published, id)
			continue
		}
		if s.published == nil {
			s.published = map[bundle.ID]cluster.Published{}
		}
		s.published[id] = p
	}
	return news
}

// forget tells of no DNSEndpoint any more. It answers whether that is news.
func (s *said) forget() (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, s.published = len(s.published) > 0, nil
	return news
}

// of answers what is told of a DNSEndpoint.
func (s *said) of(endpoint bundle.ID) (cluster.Published, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, published := s.published[endpoint]
	return p, published
}

// report answers what was done so far.
func (s *said) report() cluster.Publishing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

func (s *said) come(to progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upTo = to
}

func (s *said) progress() progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upTo
}

// tell says how the publisher does.
func (l *loop) tell(waiting string) {
	told := cluster.Publishing{Version: l.target.Options.Version, Synced: l.synced, Names: len(l.wishes.sets), Waiting: waiting, Failing: l.failing(), Zone: l.zone.message(), Strays: l.zone.strays}
	if waiting == "" {
		told.Down = l.down()
	} else {
		l.failed = time.Time{}
	}
	if !l.synced.IsZero() { // with these settings
		told.Adopted, told.AdoptedSince = l.spec.Adopts, l.spec.AdoptsSince
	}
	if l.said.tell(told) {
		l.notify.Pods()
	}
}

// tellNothing says how a publisher does that publishes nothing now.
func (l *loop) tellNothing(waiting string) {
	l.forget()
	l.tell(waiting)
}

// forget says that nobody knows of any DNSEndpoint whether it is published. All are to be told again.
func (l *loop) forget() {
	if !l.said.forget() {
		return
	}
	for id := range l.wishes.objects {
		l.untold[id] = true
	}
	l.notify.Published()
}

// tellPublished says of the DNSEndpoints that are untold whether they are published: a DNSEndpoint is once all of its names
// are written.
func (l *loop) tellPublished() {
	now := map[bundle.ID]cluster.Published{}
	for id := range l.untold {
		now[id] = cluster.Published{}
		if o, there := l.wishes.objects[id]; there && o.object.Published != nil && l.has(o.object.Published.Names) {
			now[id] = cluster.Published{UID: o.live.UID, Generation: o.live.Generation, At: l.target.Now()}
		}
	}
	clear(l.untold)
	if news := l.said.publish(now); len(news) > 0 {
		l.notify.Published(news...)
	}
}

func equal(a, b cluster.Publishing) bool {
	return a.Failing == b.Failing && a.Names == b.Names && a.Down.Equal(b.Down) && a.Waiting == b.Waiting && a.Adopted == b.Adopted && a.AdoptedSince.Equal(b.AdoptedSince) && a.Zone == b.Zone && sameCount(a.Strays, b.Strays) && a.Synced.Equal(b.Synced)
}

// sameCount compares counts; nil is one that is not known.
func sameCount(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// has tells whether names are written, and have not changed since.
func (l *loop) has(names []bundle.PublishedName) bool {
	for _, n := range names {
		if _, written := l.done[n.Name]; !written || l.urgent[n.Name] || l.failures[n.Name] != nil || l.skipped[n.Name] != "" {
			return false
		}
	}
	return true
}
