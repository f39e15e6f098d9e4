package app

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEventsAreFollowedOverHTTP from another replica, and the end of a replica ends its
// streams at once.
func TestEventsAreFollowedOverHTTP(t *testing.T) {
	t.Parallel()
	_, external := externalEtcd(t)
	one, other := serve(t, t.TempDir(), external), serve(t, t.TempDir(), external)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+one.http+"/v2/events?follow=true", http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	lines := bufio.NewScanner(answer.Body)
	until := func(text string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		require.FailNow(t, "the stream has ended", text)
	}
	until("event: start")
	other.post("/v2/projects", `{"metadata":{"name":"shop"},"spec":{}}`)
	until(`"action":"create"`)
	began := time.Now()
	one.stop()
	require.Less(t, time.Since(began), drainTimeout)
	until(`"reason":"closing"`)
	require.Contains(t, string(other.ask(http.MethodGet, "events", "", "reads", http.StatusOK)), `"path":"projects/shop"`)
	other.stop()
}
