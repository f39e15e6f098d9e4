package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

func abandonment(actor string) ledger.Abandonment {
	since := time.Date(2026, 11, 2, 9, 31, 7, 0, time.UTC)
	return ledger.Abandonment{Abandoned: intent.Abandoned{Since: since, Actor: actor}, Cluster: hub, UID: "doc-1"}
}

func (s *site) abandon() {
	s.t.Helper()
	require.NoError(s.t, s.Abandon(s.t.Context(), abandonment("ann")))
}

func (s *site) abandoned() *ledger.Abandonment {
	s.t.Helper()
	a, err := s.Abandoned(s.t.Context(), hub)
	require.NoError(s.t, err)
	return a
}

func (s *site) leftBehind() []bundle.ID {
	s.t.Helper()
	left, err := s.LeftBehind(s.t.Context(), hub)
	require.NoError(s.t, err)
	return left
}

func (s *site) entriesOf(cluster string) []ledger.Entry {
	s.t.Helper()
	entries, err := s.Cluster(s.t.Context(), cluster)
	require.NoError(s.t, err)
	return entries
}

func TestAnAbandonedClusterHasNoEntriesButWhatIsLeftBehind(t *testing.T) {
	s := newSite(t)
	require.Nil(t, s.abandoned())
	strangers, wanted := object(), object()
	strangers.Name, wanted.Name = "b", "c"
	require.NoError(t, s.Write(t.Context(), s.fence, []ledger.Entry{
		{ID: strangers, Status: ledger.Applied, Digest: "d"}, {ID: wanted, Status: ledger.Retrying},
	}, nil))
	s.abandon()
	assert.Empty(t, s.entriesOf(hub))
	some, err := s.Entries(t.Context(), hub, []bundle.ID{strangers, wanted})
	require.NoError(t, err)
	assert.Empty(t, some)
	assert.Equal(t, []bundle.ID{object()}, s.leftBehind(), "others' objects are not ours to leave, nor what was never made")
	s.abandon()
	assert.Equal(t, []bundle.ID{object()}, s.leftBehind(), "the same list, as often as it is asked for")
}

func TestOfTwoAbandonmentsTheFirstStands(t *testing.T) {
	s := newSite(t)
	s.abandon()
	require.NoError(t, s.Abandon(t.Context(), abandonment("bob")))
	got := s.abandoned()
	assert.Equal(t, abandonment("ann").Abandoned, got.Abandoned)
	assert.Equal(t, "doc-1", got.UID)
	all, err := s.Abandonments(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, hub, all[0].Cluster)
}

// TestAbandonFencesTheWorkerOff: whatever it may still want to write.
func TestAbandonFencesTheWorkerOff(t *testing.T) {
	s := newSite(t)
	s.abandon()
	require.ErrorIs(t, s.Write(t.Context(), s.fence, nil, []bundle.ID{object()}), ledger.ErrLost)
	require.ErrorIs(t, s.Own(t.Context(), s.fence), ledger.ErrLost)
	claimed, _, err := s.store.Txn(t.Context(), []kv.Compare{ledger.NotAbandoned(hub)}, kv.Put(ledger.WorkerPrefix+hub, []byte("b")))
	require.NoError(t, err)
	assert.False(t, claimed, "nobody serves it")
}

// TestAbandonGivesTheClusterUp: another name may stand for it, and the name for
// another cluster.
func TestAbandonGivesTheClusterUp(t *testing.T) {
	s := newSite(t)
	require.NoError(t, s.claim(berlin, "b", "https://b"))
	s.abandon()
	uid, err := s.Identity(t.Context(), hub)
	require.NoError(t, err)
	assert.Empty(t, uid)
	names, err := s.Claimants(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{berlin}, names, "others keep theirs")
	require.NoError(t, s.claim(hub, "c", "https://c"))
	require.NoError(t, s.claim("edge+paris", "a", "https://alias"))
}

func TestAnAbandonedNameStartsOverWhenThatIsLifted(t *testing.T) {
	s := newSite(t)
	s.abandon()
	stands := *s.abandoned()
	require.NoError(t, s.Lift(t.Context(), stands, kv.DeletePrefix("/signpost/observed/edge+hub/")))
	assert.Nil(t, s.abandoned())
	assert.Empty(t, s.leftBehind())
	fence := own(t, s.store, hub)
	require.NoError(t, s.Write(t.Context(), fence, []ledger.Entry{entry(object())}, nil))

	require.NoError(t, s.Lift(t.Context(), stands))
	assert.Len(t, s.entriesOf(hub), 1, "who comes late lifts nothing")
	require.NoError(t, s.Abandon(t.Context(), abandonment("bob")))
	require.NoError(t, s.Lift(t.Context(), stands))
	assert.Equal(t, "bob", s.abandoned().Actor, "nor what has begun since")
}

// TestAbandonIsAllOrNothing: a claim that another name gets meanwhile is not
// taken away with it.
func TestAbandonIsAllOrNothing(t *testing.T) {
	s := newSite(t)
	s.empty()
	s.store.Before = func(op, _ string) error {
		if op == "txn" {
			s.store.Before = nil
			require.NoError(t, s.claim(hub, "c", "https://c"))
			require.NoError(t, s.claim(berlin, "a", "https://a"))
		}
		return nil
	}
	s.abandon()
	names, err := s.Claimants(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{berlin}, names)
}

func TestAnAbandonmentThatOthersKeepDisturbingIsUnavailable(t *testing.T) {
	s := newSite(t)
	disturbing := false
	s.store.Before = func(op, _ string) error {
		if op != "txn" || disturbing {
			return nil
		}
		disturbing = true
		defer func() { disturbing = false }()
		_, _, err := s.store.Txn(context.Background(), nil, kv.Put("/signpost/cluster/"+hub, []byte(`{"uid":"a"}`)))
		return err
	}
	require.Equal(t, intent.Unavailable, intent.CodeOf(s.Abandon(t.Context(), abandonment("ann"))))
	s.store.Before = nil
	assert.Nil(t, s.abandoned())
	assert.Len(t, s.entriesOf(hub), 1)
}
