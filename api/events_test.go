package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/eventfeed"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// feeding is a history that is followed by a feed.
type feeding struct {
	service.NoHistory
	*eventfeed.Feed
}

func (f feeding) Follow(ctx context.Context, after int64) (<-chan intent.FollowedEvent, int64, error) {
	return f.Feed.Follow(ctx, after)
}

func (f feeding) Reached(ctx context.Context, seen int64) (int64, error) {
	return f.Feed.Reached(ctx, seen)
}

// happen announces an event of a document.
func (f feeding) happen(t *testing.T, path intent.Path, message string) {
	require.NoError(t, f.Announce(t.Context(), intent.Event{Path: path, Message: message}))
}

// client reads an answer while it is written.
type client struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex
	stuck chan struct{} // nil: it reads
}

func (c *client) Write(p []byte) (int, error) {
	if c.stuck != nil && strings.Contains(string(p), "event: event") {
		<-c.stuck
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ResponseRecorder.Write(p)
}

// lines are what has come so far, without data lines of no interest.
func (c *client) lines() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(c.Body.String()), "\n\n") {
		_, kind, _ := strings.Cut(block, "event: ")
		kind, data, _ := strings.Cut(kind, "\ndata: ")
		for _, part := range strings.Split(data, ",") {
			for _, name := range []string{`"message":`, `"reason":`, `{"reason":`} {
				if value, is := strings.CutPrefix(part, name); is {
					kind += " " + strings.Trim(value, `"}`)
				}
			}
		}
		out = append(out, kind)
	}
	return out
}

// follow begins to follow events, and answers the client, and how it hangs up.
func (w *world) follow(headers ...string) (reading *client, hangUp func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v2/events?follow=true", http.NoBody)
	for n := 0; n+1 < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	if w.token != "" {
		request.Header.Set("Authorization", "Bearer "+w.token)
	}
	reading = &client{ResponseRecorder: httptest.NewRecorder()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.handler.ServeHTTP(reading, request)
	}()
	synctest.Wait()
	return reading, func() { cancel(); <-done }
}

func newFeeding(t *testing.T, options ...func(*api.Options)) (*world, feeding, *kvtest.Fake) {
	fake := kvtest.NewFake()
	past := feeding{Feed: eventfeed.New(fake)}
	return newWorld(t, append(options, func(o *api.Options) { o.History = past })...), past, fake
}

// TestEventsAreFollowedByThoseWhoMayReadThem, and a client goes on where it was cut.
func TestEventsAreFollowedByThoseWhoMayReadThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authenticator := tokenFile(t, everyRole)
		w, past, _ := newFeeding(t, func(o *api.Options) { o.Authenticator = authenticator })
		w.token = "v"
		viewer, hangUp := w.follow()
		w.token = "pv"
		ofShop, end := w.follow()
		past.happen(t, "projects/shop", "a")
		past.happen(t, "projects/bakery/names/x", "b")
		past.happen(t, "cluster-providers/edge", "c")
		past.happen(t, "projects/shop/names/www", "d")
		require.Equal(t, []string{"start", "event a", "event b", "event c", "event d"}, viewer.lines())
		require.Equal(t, []string{"start", "event a", "event d"}, ofShop.lines())
		require.Equal(t, "text/event-stream", ofShop.Header().Get("Content-Type"))
		end()
		hangUp()

		_, rest, _ := strings.Cut(viewer.Body.String(), "event: event")
		_, rest, _ = strings.Cut(rest, "id: ")
		id, _, _ := strings.Cut(rest, "\n") // of event b
		w.token = "v"
		again, hangUp := w.follow("Last-Event-ID", id)
		require.Equal(t, []string{"start", "event c", "event d"}, again.lines())
		hangUp()
	})
}

// TestAStreamEndsWithTheToken, within ten seconds.
func TestAStreamEndsWithTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, authenticator := tokenFile(t, everyRole)
		w, past, _ := newFeeding(t, func(o *api.Options) { o.Authenticator = authenticator })
		w.token = "pv"
		reading, hangUp := w.follow()
		past.happen(t, "projects/shop", "a")
		require.Equal(t, []string{"start", "event a"}, reading.lines())
		require.NoError(t, os.WriteFile(file, []byte("v,vera,viewer\n"), 0o600))
		time.Sleep(11 * time.Second)
		past.happen(t, "projects/shop", "b")
		require.Equal(t, "end unauthorized", strings.Join(strings.Fields(reading.lines()[2])[:2], " "))
		require.Len(t, reading.lines(), 3)
		hangUp()
	})
}

// TestASlowReaderIsCutWithAReason, and a thousand events wait for it at most.
func TestASlowReaderIsCutWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, past, _ := newFeeding(t)
		reading, hangUp := w.follow()
		reading.stuck = make(chan struct{})
		for n := range 1100 {
			past.happen(t, "projects/shop", fmt.Sprint(n))
		}
		synctest.Wait()
		close(reading.stuck)
		lines := reading.lines()
		require.Contains(t, lines[len(lines)-1], "end slow")
		require.Less(t, len(lines), 1010)
		hangUp()
	})
}

// TestASlowReaderGoesOnWhereItWasCut: by the id of the last event that has reached it, and
// each event reaches it once, in order. A stream that sends many old events may be cut, too.
func TestASlowReaderGoesOnWhereItWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, past, _ := newFeeding(t)
		reading, hangUp := w.follow()
		reading.stuck = make(chan struct{})
		want, got := []string{}, []string{}
		for n := range 1100 {
			past.happen(t, "projects/shop", fmt.Sprint(n))
			want = append(want, fmt.Sprintf("event %d", n))
		}
		synctest.Wait()
		close(reading.stuck)
		lines := reading.lines()
		require.Contains(t, lines[len(lines)-1], "end slow")
		for {
			hangUp()
			before := len(got)
			for _, line := range reading.lines() {
				if strings.HasPrefix(line, "event ") {
					got = append(got, line)
				}
			}
			if len(got) >= len(want) {
				break
			}
			require.Greater(t, len(got), before, "each stream tells something")
			sent, _, _ := strings.Cut(reading.Body.String(), "event: end")
			reading, hangUp = w.follow("Last-Event-ID", lastID(sent))
		}
		require.Equal(t, want, got)
	})
}

// lastID is the id of the last event of a stream.
func lastID(stream string) string {
	events := stream[:strings.LastIndex(stream, "event: event")]
	id, _, _ := strings.Cut(events[strings.LastIndex(events, "id: ")+len("id: "):], "\n")
	return id
}

// TestAQuietStreamKeepsItsPlace: the id does not age while nothing happens. The stream
// ends with the server, and after an hour.
func TestAQuietStreamKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, past, fake := newFeeding(t)
		reading, hangUp := w.follow()
		require.NoError(t, past.Announce(t.Context(), intent.Event{Path: "projects/shop"}))
		time.Sleep(16 * time.Second)
		synctest.Wait()
		require.Contains(t, reading.Body.String(), fmt.Sprintf("id: %d\n\n", fake.Revision()))
		time.Sleep(time.Hour)
		require.Contains(t, reading.lines()[len(reading.lines())-1], "end closing")
		hangUp()

		other, hangUp := w.follow()
		past.End()
		require.Contains(t, other.lines()[1], "end closing")
		hangUp()
	})
}

// TestFollowersAreBounded, and what they ask for is checked before the stream begins.
func TestFollowersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, past, fake := newFeeding(t)
		past.happen(t, "projects/shop", "a")
		var hangUps []func()
		for range 16 {
			_, hangUp := w.follow()
			hangUps = append(hangUps, hangUp)
		}
		require.Equal(t, http.StatusTooManyRequests, w.send(http.MethodGet, "/v2/events?follow=true", nil).Code)
		w.send(http.MethodGet, "/v2/events", nil).want(http.StatusOK)
		for _, hangUp := range hangUps {
			hangUp()
		}
		for _, id := range []string{"0", "-1", "x", "99999"} {
			require.Contains(t, w.send(http.MethodGet, "/v2/events?follow=true", nil, "Last-Event-ID", id).want(http.StatusBadRequest).Body.String(), "Last-Event-ID", id)
		}
		w.send(http.MethodGet, "/v2/events?follow=true&limit=3", nil).want(http.StatusBadRequest)
		past.happen(t, "projects/shop", "b")
		past.happen(t, "projects/shop", "c")
		require.NoError(t, fake.Compact(t.Context()))
		require.Contains(t, w.send(http.MethodGet, "/v2/events?follow=true", nil, "Last-Event-ID", "1").want(http.StatusGone).Body.String(), "are not kept any more")
	})
}
