package eventfeed_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/eventfeed"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// world has two replicas over one store.
type world struct {
	t          *testing.T
	fake       *kvtest.Fake
	one, other *eventfeed.Feed
}

func newWorld(t *testing.T) *world {
	fake := kvtest.NewFake()
	return &world{t: t, fake: fake, one: eventfeed.New(fake), other: eventfeed.New(fake)}
}

func (w *world) announce(by *eventfeed.Feed, message string) {
	w.t.Helper()
	require.NoError(w.t, by.Announce(w.t.Context(), intent.Event{Message: message, Path: "projects/shop", Before: json.RawMessage(`{}`), After: json.RawMessage(`{}`)}))
}

func (w *world) follow(by *eventfeed.Feed, after int64) (<-chan intent.FollowedEvent, int64) {
	w.t.Helper()
	events, id, err := by.Follow(w.t.Context(), after)
	require.NoError(w.t, err)
	return events, id
}

// TestEventsOfAllReplicasAreFollowed from now on, in order, without their documents. An
// id is good at every replica.
func TestEventsOfAllReplicasAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.announce(w.one, "before")
		events, _ := w.follow(w.one, 0)
		w.announce(w.one, "a")
		w.announce(w.other, "b")
		w.announce(w.other, "c")
		first := <-events
		require.Equal(t, intent.Event{Message: "a", Path: "projects/shop"}, first.Event)
		require.Equal(t, "b", (<-events).Event.Message)
		require.Equal(t, "c", (<-events).Event.Message)

		again, id := w.follow(w.other, first.ID)
		require.Equal(t, first.ID, id)
		require.Equal(t, "b", (<-again).Event.Message, "nothing is missed, and nothing told twice")
		require.Equal(t, "c", (<-again).Event.Message)
		w.one.End()
		_, open := <-events
		require.False(t, open)
		late, _ := w.follow(w.one, 0)
		_, open = <-late
		require.False(t, open, "the replica ends")
	})
}

// TestIDsOfNothingAreRefused: those that are too old, and those to come.
func TestIDsOfNothingAreRefused(t *testing.T) {
	w := newWorld(t)
	w.announce(w.one, "a")
	_, now, err := w.fake.Get(t.Context(), "/")
	require.NoError(t, err)
	_, _, err = w.one.Follow(t.Context(), now+1)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	for range 3 {
		w.announce(w.one, "b")
	}
	require.NoError(t, w.fake.Compact(t.Context()))
	_, _, err = w.one.Follow(t.Context(), now)
	require.Equal(t, intent.Gone, intent.CodeOf(err))
	require.ErrorContains(t, err, "read GET /v2/events, then follow without Last-Event-ID")
}

// TestAnIDDoesNotAgeWhileNothingHappens, and passes no event over.
func TestAnIDDoesNotAgeWhileNothingHappens(t *testing.T) {
	w := newWorld(t)
	w.announce(w.one, "a")
	_, seen, err := w.fake.Get(t.Context(), "/")
	require.NoError(t, err)
	_, now, err := w.fake.Txn(t.Context(), nil, kv.Put("/something/else", nil))
	require.NoError(t, err)
	id, err := w.one.Reached(t.Context(), seen)
	require.NoError(t, err)
	require.Equal(t, now, id)
	w.announce(w.other, "b")
	id, err = w.one.Reached(t.Context(), seen)
	require.NoError(t, err)
	require.Equal(t, seen, id, "b is still to be told")
}
