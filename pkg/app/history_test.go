package app

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ask sends a request to a server, with a request id, and answers the body.
func (s *server) ask(method, path, body, id string, want int) []byte {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.http+"/v2/"+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("X-Request-ID", id)
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, want, response.StatusCode, "%s", raw)
	return raw
}

// events are those at a path.
func (s *server) events(path string) []intent.Event {
	s.t.Helper()
	var page intent.EventPage
	require.NoError(s.t, json.Unmarshal(s.ask("GET", path, "", "reads", http.StatusOK), &page))
	return page.Items
}

// TestEventsTellWhoAskedForWhat: of the project all, newest first; of the
// deployment intent group its releases, and what was written since, oldest
// first. A restart forgets nothing.
func TestEventsTellWhoAskedForWhat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir)
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	s.ask("PUT", "projects/shop", `{"metadata":{"name":"shop"},"spec":{}}`, "r1", http.StatusCreated)
	s.ask("PUT", "projects/shop/logical-clouds/eu", `{"metadata":{"name":"eu"},"spec":{}}`, "r2", http.StatusCreated)
	s.ask("PUT", "projects/shop/composite-apps/store/v1", `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`, "r3", http.StatusCreated)
	body := `{"metadata":{"name":"prod","description":"DESCRIPTION"},"spec":{"logicalCloud":"eu"}}`
	s.ask("PUT", group, body, "r4", http.StatusCreated)
	require.Empty(t, s.events(group+"/events"))
	s.ask("POST", group+"/instantiate", "", "r5", http.StatusAccepted)
	s.ask("PUT", group, strings.Replace(body, "DESCRIPTION", "better", 1), "r6", http.StatusOK)
	s.ask("DELETE", "projects/shop/logical-clouds/eu", "", "r7", http.StatusConflict)

	require.Eventually(t, func() bool { return len(s.events(group+"/events")) == 3 }, patience, 20*time.Millisecond)
	s.stop()
	s = serve(t, dir)
	ofGroup := map[string]intent.Event{}
	for _, e := range s.events(group + "/events") {
		require.EqualValues(t, group, e.Path)
		ofGroup[e.RequestID+" "+string(e.Action)+" "+e.Outcome] = e
	}
	require.Contains(t, ofGroup, "r5 instantiate accepted")
	require.Contains(t, ofGroup, " instantiate completed", "nobody asked for that by a request")
	replaced, ok := ofGroup["r6 replace stored"]
	require.True(t, ok)
	require.Equal(t, "anonymous", replaced.Actor)
	require.Equal(t, "changes /metadata/description", replaced.Message)
	require.Contains(t, string(replaced.Before), "DESCRIPTION")
	require.Contains(t, string(replaced.After), "better")
	require.Equal(t, intent.Instantiate, s.events(group + "/events")[0].Action)

	var ofProject []string
	for _, e := range s.events("projects/shop/events?limit=100") {
		if e.RequestID != "" {
			ofProject = append(ofProject, e.RequestID)
		}
	}
	require.Equal(t, []string{"r6", "r5", "r4", "r3", "r2", "r1"}, ofProject)
	s.stop()
}

// TestEventsOfClustersTellWhoDrainedThem: and by which request.
func TestEventsOfClustersTellWhoDrainedThem(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.ask("PUT", "cluster-providers/edge", `{"metadata":{"name":"edge"},"spec":{}}`, "r1", http.StatusCreated)
	s.ask("PUT", "cluster-providers/edge/clusters/one", `{"metadata":{"name":"one"},"spec":{"directory":"one"}}`, "r2", http.StatusCreated)
	s.ask("POST", "cluster-providers/edge/clusters/one/drain?reason=flood", "", "r3", http.StatusAccepted)
	s.ask("POST", "cluster-providers/edge/clusters/one/undrain", "", "r4", http.StatusAccepted)
	s.ask("POST", "cluster-providers/edge/clusters/one/abandon", "", "r5", http.StatusOK)
	var told []string
	for _, e := range s.events("cluster-providers/edge/events") {
		told = append(told, e.RequestID+" "+string(e.Action)+" "+string(e.Path))
	}
	require.Equal(t, []string{
		"r5 abandon cluster-providers/edge/clusters/one", "r4 undrain cluster-providers/edge/clusters/one", "r3 drain cluster-providers/edge/clusters/one",
		"r2 create cluster-providers/edge/clusters/one", "r1 create cluster-providers/edge",
	}, told)
	var drains []string
	for _, e := range s.events("events?limit=100") {
		if e.Action == intent.Drain || e.Action == intent.Undrain {
			drains = append(drains, strings.Join([]string{e.Actor, string(e.Action), string(e.Path), e.Outcome, e.Message}, " "))
		}
	}
	require.Equal(t, []string{
		"anonymous undrain cluster-providers/edge/clusters/one completed ", "anonymous drain cluster-providers/edge/clusters/one completed flood",
	}, drains, "the changes of all projects have them")
	s.stop()
}
