package syncer

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/apply"
)

// unanswered is a scene whose cluster answers no creation of an object, and
// does not make it either, until it lands.
type unanswered struct {
	*scene
	object bundle.Object
	asked  atomic.Int64 // creations that got no answer
	looked atomic.Int64 // times that it was looked for
}

func newUnanswered(t *testing.T) *unanswered {
	s := &unanswered{scene: newScene(t, hub), object: config(t, hub, "a", "1")}
	s.clock = hasty{time.Now()}
	s.clusters[hub].Plant(namespace(t, hub))
	s.clusters[hub].Before = func(_ context.Context, verb string, id bundle.ID) error {
		switch {
		case verb == "create" && id.Name == "a":
			s.asked.Add(1)
			return &fault.Error{Fault: fault.Unreachable, Message: "no answer in time"}
		case verb == "get" && id.Name == "a":
			s.looked.Add(1)
		}
		return nil
	}
	return s
}

// land has the creation take effect after all.
func (s *unanswered) land() {
	labelled := strings.Replace(string(s.object.JSON), `"metadata":{`, `"metadata":{"labels":{"`+bundle.LabelInstallation+`":"`+installation+`"},`, 1)
	s.clusters[hub].Plant(bundle.Object{ID: s.object.ID, JSON: []byte(labelled)})
}

// absent waits until the object was looked for once more and not found.
func (s *unanswered) absent() {
	s.t.Helper()
	before := s.looked.Load()
	s.until("it is looked for", func() bool { return s.looked.Load() > before })
}

// gone waits until nothing of the object is left, neither there nor in the
// ledger.
func (s *unanswered) gone() {
	s.t.Helper()
	s.until("nothing is left", func() bool {
		_, known := s.entries(hub)[s.object.ID]
		return !known && s.clusters[hub].Live(s.object.ID) == nil
	})
}

// TestWhatWasDeletedIsGoneThoughItsCreationLandsLate: a request that nobody
// waits for any more may still take effect, and nobody would remove what it
// makes (I5).
func TestWhatWasDeletedIsGoneThoughItsCreationLandsLate(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(s *unanswered, stop func()){
		"for the same worker": func(s *unanswered, _ func()) {
			s.commit("dig")
			s.absent()
		},
		"for its successor": func(s *unanswered, stop func()) {
			stop()
			s.commit("dig")
			s.start("b")
			s.absent()
		},
		"after an outage": func(s *unanswered, _ func()) {
			s.clusters[hub].Down(true)
			s.until("the outage is noticed", func() bool { return strings.Contains(s.log.String(), "cluster cannot be reached") })
			s.commit("dig")
			began := s.clock.Now()
			s.until("it lasts", func() bool { return s.clock.Now().Sub(began) > 2*apply.LandsWithin })
			s.clusters[hub].Down(false)
			s.absent()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newUnanswered(t)
			_, stop := s.start("a")
			s.commit("dig", s.object)
			s.until("the creation gets no answer", func() bool { return s.asked.Load() > 0 })
			late(s, stop)
			s.land()
			s.gone()
		})
	}
}

func TestWhatWasNeverMadeIsGoneAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newUnanswered(t)
		s.start("a")
		s.commit("dig", s.object)
		s.until("the creation gets no answer", func() bool { return s.asked.Load() > 0 })
		s.commit("dig")
		s.absent()
		s.until("it is told", func() bool {
			return strings.Contains(s.entries(hub)[s.object.ID].Message, "its creation was not answered")
		})
		s.gone()
	})
}

// TestWhatIsMadeAgainIsNotAppliedMeanwhile: it is known to be missing (I6), and
// a successor has to know that it may be under way.
func TestWhatIsMadeAgainIsNotAppliedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	w, _ := s.start("a")
	objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
	s.commit("dig", objects...)
	s.settled(w, objects...)
	release := make(chan struct{})
	s.clusters[hub].Before = func(_ context.Context, verb string, _ bundle.ID) error {
		if verb == "create" {
			<-release
		}
		return nil
	}
	s.clusters[hub].Remove(objects[1].ID)
	s.until("it is not applied", func() bool { return s.entries(hub)[objects[1].ID].Status == ledger.Pending })
	close(release)
	s.settled(w, objects...)
}
