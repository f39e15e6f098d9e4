package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestWaitForInstantiatedAnswersOnceTheClustersHaveIt, for a new name and for a change of
// it: no external-dns has published it then.
func TestWaitForInstantiatedAnswersOnceTheClustersHaveIt(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.postLab()
	for n, want := range []int{http.StatusCreated, http.StatusOK} {
		body := fmt.Sprintf(`{"metadata":{"name":"www.lab.example"},"spec":{"addresses":["203.0.113.%d"]}}`, n)
		var answer struct {
			Status intent.NameReport `json:"status"`
		}
		require.NoError(t, json.Unmarshal(s.ask(http.MethodPut, "projects/shop/names/www.lab.example?wait=instantiated&timeout=30s", body, "waits", want), &answer))
		require.Equal(t, intent.Instantiated, answer.Status.State)
		require.Equal(t, "Unknown", answer.Status.Published)
		require.Equal(t, []string{fmt.Sprintf("203.0.113.%d", n)}, answer.Status.Records[0].Targets)
	}
	s.stop()
}

// postLab posts what a name needs: a project, a cluster, and a provider.
func (s *server) postLab() {
	s.t.Helper()
	for _, document := range [][2]string{
		{"/v2/projects", `{"metadata":{"name":"shop"},"spec":{}}`},
		{"/v2/cluster-providers", `{"metadata":{"name":"edge"},"spec":{}}`},
		{"/v2/cluster-providers/edge/clusters", `{"metadata":{"name":"hub"},"spec":{"directory":"hub"}}`},
		{"/v2/projects/shop/dns-update-records", `{"metadata":{"name":"lab"},"spec":{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},
			"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}}`},
	} {
		s.post(document[0], document[1])
	}
}

// TestANameTellsItsHistory over the API: who asked for what, and what came and went. A
// restart forgets nothing.
func TestANameTellsItsHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir)
	s.postLab()
	const name = "projects/shop/names/www.lab.example"
	body := `{"metadata":{"name":"www.lab.example"},"spec":{"addresses":["203.0.113.7"]}}`
	history := func() []intent.NameTurn {
		var answer struct{ Items []intent.NameTurn }
		require.NoError(t, json.Unmarshal(s.ask(http.MethodGet, "names/www.lab.example/history", "", "reads", http.StatusOK), &answer))
		return answer.Items
	}
	s.ask(http.MethodPut, name, body, "r1", http.StatusCreated)
	require.Eventually(t, func() bool { return len(history()) == 1 }, patience, tick)
	s.ask(http.MethodPut, name, strings.Replace(body, ".7", ".8", 1), "r2", http.StatusOK)
	require.Eventually(t, func() bool { return len(history()) == 2 }, patience, tick)
	s.stop()
	s = serve(t, dir)
	turns := history()
	require.Len(t, turns, 2)
	require.Equal(t, intent.TargetChange{Type: "A", Provider: "lab", Added: []string{"203.0.113.8"}, Removed: []string{"203.0.113.7"}}, turns[0].Changes[0])
	require.Equal(t, intent.CauseRelease, turns[0].Cause.Reason)
	require.Equal(t, "anonymous", turns[0].Cause.Actor)
	require.Equal(t, "r2", turns[0].Cause.RequestID)
	require.EqualValues(t, name, turns[1].Owner)
	require.Equal(t, "r1", turns[1].Cause.RequestID)
	require.False(t, turns[0].Gap || turns[1].Gap)
	s.stop()
}
