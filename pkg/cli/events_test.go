package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEventsAreListed, a page of them.
func TestEventsAreListed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET events?limit=3", 200, "EventPage", example(t, "eventPageOfProvider"))
	got := signpost(t, f.url, "events", "--limit", "3")
	require.Equal(t, exitDone, got.code)
	require.Contains(t, got.out, "2026-11-02T09:31:07Z  root   drain   -        completed  cluster-providers/edge/clusters/one")
	require.Equal(t, exitUsage, signpost(t, f.url, "events", "shop").code)
}

// TestEventsAreFollowedAcrossConnections: each begins behind the last id, until the
// server says that it is of no use.
func TestEventsAreFollowedAcrossConnections(t *testing.T) {
	t.Parallel()
	event := func(id int, message string) string {
		return fmt.Sprintf("id: %d\nevent: event\ndata: {\"time\":\"2026-11-02T09:31:07Z\",\"actor\":\"anna\",\"action\":\"replace\",\"revision\":1,\"outcome\":\"stored\",\"message\":%q,\"path\":\"projects/shop\"}\n\n", id, message)
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		answers := map[string]string{
			"":  "id: 4\nevent: start\ndata: {}\n\n" + event(5, "one"),
			"5": event(7, "two") + "id: 9\n\n" + "event: end\ndata: {\"reason\":\"slow\",\"message\":\"m\"}\n\n",
			"9": "event: end\ndata: {\"reason\":\"unauthorized\",\"message\":\"the token is unknown\"}\n\n",
		}
		asked.Add(1)
		_, _ = fmt.Fprint(w, answers[r.Header.Get("Last-Event-ID")])
	}))
	defer server.Close()
	require.Equal(t, result{exitFailed, "2026-11-02T09:31:07Z  anna  replace  stored  projects/shop  one\n2026-11-02T09:31:07Z  anna  replace  stored  projects/shop  two\n", "signpost events: the token is unknown\n"}, signpost(t, server.URL, "events", "--follow"))
	require.EqualValues(t, 3, asked.Load())

	got := signpost(t, server.URL, "events", "--follow", "-o", "json")
	require.Contains(t, got.out, `"message":"one"`)
	require.Equal(t, exitUnreachable, signpost(t, "http://127.0.0.1:1", "events", "--follow").code)
}
