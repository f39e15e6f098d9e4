package syncer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func (s *scene) abandon(name string) ledger.Abandonment {
	s.t.Helper()
	require.NoError(s.t, s.ledger.Abandon(s.t.Context(), ledger.Abandonment{Abandoned: intent.Abandoned{Since: time.Now(), Actor: "ann"}, Cluster: name, UID: "doc"}))
	a, err := s.ledger.Abandoned(s.t.Context(), name)
	require.NoError(s.t, err)
	return *a
}

// TestAnAbandonedClusterIsServedByNobody: neither by who served it, who gets to
// know at once, nor by another worker; and by somebody again when that is over.
func TestAnAbandonedClusterIsServedByNobody(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub, berlin)
	s.commit("shop", append(everything(t, hub), namespace(t, berlin), config(t, berlin, "settings", "1"))...)
	w, _ := s.start("a")
	s.settled(w, append(everything(t, hub), namespace(t, berlin), config(t, berlin, "settings", "1"))...)

	stands := s.abandon(hub)
	s.until("its worker lets go", func() bool { return !w.serving(hub) && w.Idle() })
	s.clusters[hub].Forget()
	s.start(preferredTo("a", hub))
	s.clusters[hub].Remove(account(t, hub, "external-dns-lab").ID)
	s.commit("shop", append(everything(t, hub), config(t, hub, "more", "1"), namespace(t, berlin), config(t, berlin, "settings", "2"))...)
	s.until("the others are served", func() bool {
		want := config(t, berlin, "settings", "2")
		return s.entries(berlin)[want.ID].Digest == want.Digest()
	})
	require.Nil(t, s.owner(hub))
	require.Empty(t, s.clusters[hub].Requests())

	require.NoError(t, s.ledger.Lift(t.Context(), stands, observed.Forget(hub)))
	s.until("it starts over", func() bool { return s.entries(hub)[config(t, hub, "more", "1").ID].Status == ledger.Applied })
}

// serving tells whether the worker has a cluster worker of a cluster.
func (w *Worker) serving(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return w.session.workers[name] != nil
}

// TestAClaimThatComesAfterTheAbandonmentFails: though the worker has not heard
// of it yet.
func TestAClaimThatComesAfterTheAbandonmentFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	claimant := s.claimant()
	s.abandon(hub)
	fence, err := claimant.claim(t.Context(), hub)
	require.NoError(t, err)
	require.Nil(t, fence)
	require.Nil(t, s.owner(hub))
}

// claimant is a lease session of a worker that does not run.
func (s *scene) claimant() *leaseSession {
	s.t.Helper()
	lease, err := s.kv.Lease(s.t.Context(), leaseSeconds)
	require.NoError(s.t, err)
	return &leaseSession{worker: New(Options{KV: s.kv, Contexts: s.contexts, Connections: s, Installation: installation, Member: "a"}), lease: lease}
}
