package builtin

import (
	"maps"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// said is what a publisher's goroutine tells others.
type said struct {
	mu   sync.Mutex
	told cluster.Publishing
	upTo progress
}

// progress is how far a publisher has come with what it was to remove.
type progress struct {
	known bool
	turn  int64           // of the view that it has taken up
	left  map[string]bool // names that are still to be removed, or have failed
}

func (s *said) tell(now cluster.Publishing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = now
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

// tell says what was done: a DNSEndpoint is published once all of its names are.
func (l *loop) tell(objects []held, waiting string) {
	told := cluster.Publishing{Version: l.target.Options.Version, Synced: l.synced, Names: len(l.wishes.sets), Waiting: waiting, Failing: l.failing(), Zone: l.zone.message(), Strays: l.zone.strays, Published: map[bundle.ID]cluster.Published{}}
	if waiting == "" {
		told.Down = l.down()
	} else {
		l.failed = time.Time{}
	}
	if !l.synced.IsZero() { // with these settings
		told.Adopted, told.AdoptedSince = l.spec.Adopts, l.spec.AdoptsSince
	}
	before := l.said.report()
	for _, o := range objects {
		if o.object.Published == nil || !l.has(o.object.Published.Names) {
			continue
		}
		now := cluster.Published{UID: o.live.UID, Generation: o.live.Generation, At: l.target.Now()}
		if was := before.Published[o.object.ID]; was.UID == now.UID && was.Generation == now.Generation {
			now = was
		}
		told.Published[o.object.ID] = now
	}
	l.said.tell(told)
	if !equal(before, told) {
		l.notify.Pods()
	}
}

func equal(a, b cluster.Publishing) bool {
	return a.Failing == b.Failing && a.Names == b.Names && a.Down.Equal(b.Down) && a.Waiting == b.Waiting && a.Adopted == b.Adopted && a.AdoptedSince.Equal(b.AdoptedSince) && a.Zone == b.Zone && sameCount(a.Strays, b.Strays) && a.Synced.Equal(b.Synced) && maps.Equal(a.Published, b.Published)
}

// sameCount compares counts; nil is one that is not known.
func sameCount(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// has tells whether names are written.
func (l *loop) has(names []bundle.PublishedName) bool {
	for _, n := range names {
		if _, written := l.done[n.Name]; !written || l.failures[n.Name] != nil || l.skipped[n.Name] != "" {
			return false
		}
	}
	return true
}
