package observed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

var web = address.Service{Cluster: hub, Namespace: "shop", Name: "web"}

// shop is a writer of a cluster's observations, and what it wrote of one Service.
type shop struct {
	*testing.T
	store  *kvtest.Fake
	writer *observed.Writer
	now    time.Time
}

func newShop(t *testing.T) *shop {
	store := kvtest.NewFake()
	return &shop{t, store, writer(t, store, hub), time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
}

func (s *shop) see(o address.Observation) address.Observation {
	s.Helper()
	o.Changed = s.now
	require.NoError(s, s.writer.SetService(s.Context(), "shop", "web", o))
	seen, err := observed.New(s.store).Service(s.Context(), web)
	require.NoError(s, err)
	return seen.Observation
}

func (s *shop) ready(endpoints int) address.Readiness {
	s.Helper()
	o := offer("203.0.113.10")
	o.Readiness = &address.Readiness{Ready: endpoints, Total: 3}
	return *s.see(o).Readiness
}

// A Service that loses its last ready endpoint is unhealthy at once. It is
// healthy again at once after its first turn, then after a hold that doubles.
func TestReadinessIsDamped(t *testing.T) {
	s := newShop(t)
	assert.Equal(t, address.Readiness{Ready: 2, Total: 3, Since: s.now}, s.ready(2), "what was never seen before is as it is")
	assert.Equal(t, 2, s.ready(1).Ready, "what does not turn is not written")
	turn := 0
	for _, hold := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		turn = min(turn+1, 8)
		s.now = s.now.Add(time.Second)
		assert.Equal(t, address.Readiness{Total: 3, Since: s.now, Turns: turn}, s.ready(0), "bad at once")
		s.now = s.now.Add(time.Second)
		if hold > 0 {
			assert.Zero(t, s.ready(1).Ready)
			assert.Equal(t, s.now.Add(hold), s.writer.Due(s.now), "the time at which it is to be looked at again")
			s.now = s.now.Add(hold - 1)
			assert.Zero(t, s.ready(1).Ready, "not before %s", hold)
			s.now = s.now.Add(1)
		}
		assert.Equal(t, address.Readiness{Ready: 1, Total: 3, Since: s.now, Turns: turn}, s.ready(1), "good after %s", hold)
		assert.Zero(t, s.writer.Due(s.now))
	}
	s.now = s.now.Add(10 * time.Minute)
	assert.Equal(t, 1, s.ready(0).Turns, "turns are forgotten after ten quiet minutes")
	assert.Equal(t, 1, s.ready(1).Ready)
}

func TestAHoldThatIsInterruptedBeginsAnewAndLonger(t *testing.T) {
	s := newShop(t)
	for _, endpoints := range []int{1, 0, 1, 0} {
		s.ready(endpoints)
	}
	s.ready(1)
	s.now = s.now.Add(4 * time.Second)
	assert.Equal(t, 3, s.ready(0).Turns)
	s.now = s.now.Add(time.Second)
	s.ready(1)
	assert.Equal(t, s.now.Add(10*time.Second), s.writer.Due(s.now))
}

func TestReadinessThatWasBadForLongIsGoodAtOnce(t *testing.T) {
	s := newShop(t)
	for range 4 {
		s.ready(1)
		s.ready(0)
	}
	s.now = s.now.Add(10 * time.Minute)
	assert.Equal(t, 1, s.ready(1).Ready)
}

// Turns are stored: a replica that takes over goes on with them. Only the hold
// begins anew.
func TestTheNextOwnerDampsOn(t *testing.T) {
	s := newShop(t)
	for range 2 {
		s.ready(1)
		s.ready(0)
		s.now = s.now.Add(time.Minute)
	}
	s.ready(0)
	s.writer = writer(t, s.store, hub)
	assert.Zero(t, s.ready(1).Ready)
	assert.Equal(t, s.now.Add(5*time.Second), s.writer.Due(s.now))
	s.now = s.now.Add(5 * time.Second)
	assert.Equal(t, 1, s.ready(1).Ready)
}

func TestReadinessThatCannotBeSeenIsNotKnown(t *testing.T) {
	s := newShop(t)
	s.ready(0)
	assert.Nil(t, s.see(offer("203.0.113.10")).Readiness)
	s.ready(0)
	assert.Nil(t, s.see(address.Observation{}).Readiness, "nor that of a Service which is gone")
	require.NoError(t, forget(t, s.store, s.writer, s.store.Revision()))
	assert.Zero(t, s.writer.Due(s.now))
}

// However a Service turns: that nothing is ready counts at once, and that
// something is counts sooner or later, and never while it is not so.
func TestReadinessFollowsWhatIsSeen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newShop(t)
		for range rapid.IntRange(1, 40).Draw(r, "looks") {
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 400).Draw(r, "seconds")) * time.Second)
			endpoints := rapid.IntRange(0, 2).Draw(r, "ready")
			if counted := s.ready(endpoints); counted.Ready > 0 && endpoints == 0 {
				r.Fatalf("counts as ready: %+v", counted)
			}
		}
		last := s.ready(1)
		due := s.writer.Due(s.now)
		if last.Ready > 0 != due.IsZero() || due.After(s.now.Add(5*time.Minute)) {
			r.Fatalf("%+v is looked at again at %s, now is %s", last, due, s.now)
		}
		s.now = due
		if last.Ready == 0 && s.ready(1).Ready == 0 {
			r.Fatalf("never counts as ready: %+v", last)
		}
	})
}

func TestChangedTellsWhenItWasFirstSeenSo(t *testing.T) {
	s := newShop(t)
	began := s.now
	assert.Equal(t, began, s.see(offer("203.0.113.10")).Changed)
	s.now = s.now.Add(time.Minute)
	assert.Equal(t, began, s.see(offer("203.0.113.10")).Changed)
	assert.Equal(t, s.now, s.see(offer("203.0.113.11")).Changed)
}

// What cannot be looked at is unknown, never absent (I11).
func TestCandidatesThatCannotBeLookedAtStay(t *testing.T) {
	s := newShop(t)
	candidate := func(kind address.Kind, target string) address.Candidate {
		return address.Candidate{Kind: kind, Target: target, Field: "status"}
	}
	balancer, ingress, gateway := candidate(address.LoadBalancer, "203.0.113.10"), candidate(address.Ingress, "203.0.113.20"), candidate(address.Gateway, "203.0.113.30")
	s.see(address.Observation{Found: true, Candidates: []address.Candidate{balancer, ingress, gateway}})
	unseen := map[address.Kind]string{address.Ingress: "ingresses may not be listed"}
	now := s.see(address.Observation{Found: true, Candidates: []address.Candidate{balancer}, Unseen: unseen})
	assert.Equal(t, []address.Candidate{balancer, ingress}, now.Candidates, "the Gateway was seen to be gone, the Ingress was not")
	assert.Equal(t, unseen, now.Unseen)
	now = s.see(address.Observation{Found: true, Candidates: []address.Candidate{balancer, gateway}, Unseen: unseen})
	assert.Equal(t, []address.Candidate{balancer, ingress, gateway}, now.Candidates, "in the order of kinds")
	assert.Empty(t, s.see(address.Observation{}).Candidates, "without a Service nothing leads to it")
}

func TestAddressesOfAHostNameStayWhileItDoesNotResolve(t *testing.T) {
	s := newShop(t)
	named := offer("lb.example")
	named.Candidates[0].Resolved = []string{"203.0.113.10"}
	s.see(named)
	assert.Equal(t, named.Candidates, s.see(offer("lb.example")).Candidates)
	assert.Empty(t, s.see(offer("other.example")).Candidates[0].Resolved)
}
