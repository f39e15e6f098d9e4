package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// found are names of two projects.
func found() []intent.FoundName {
	name := func(host, project string) intent.FoundName {
		return intent.FoundName{
			Name: host, Project: project, Owner: intent.Join("projects", project, "names", host), Provider: "lab", Scope: intent.Public,
			Home: []string{"edge+hub"}, Clusters: []string{"edge+berlin"}, State: intent.Instantiated, Published: "True", Verified: "Unknown",
		}
	}
	return []intent.FoundName{name("www.lab.example", "shop"), name("bread.lab.example", "bakery")}
}

// TestNamesAreFoundInEveryProjectThatTheCallerMayRead, and in no other one.
func TestNamesAreFoundInEveryProjectThatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.lifecycle.found = found()
	for token, want := range map[string][]any{
		"v":     {"www.lab.example", "bread.lab.example"},
		"pv":    {"www.lab.example"},
		"other": {"bread.lab.example"},
	} {
		w.token = token
		var names []any
		for _, item := range w.send("GET", "/v2/names", nil).want(http.StatusOK).json()["items"].([]any) {
			names = append(names, item.(map[string]any)["name"])
		}
		require.Equal(t, want, names, token)
	}
	w.token = ""
	w.send("GET", "/v2/names", nil).want(http.StatusUnauthorized)
}

// TestAQuestionForNamesIsPassedOnAsItIsAsked, and clusters are written as in names.
func TestAQuestionForNamesIsPassedOnAsItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lifecycle.found = found()
	answer := w.send("GET", "/v2/names?name=www.*&project=shop&provider=lab&cluster=edge/berlin&state=Failed&published=False&verified=Unknown&sort=worst&limit=7&continue=x", nil).want(http.StatusOK)
	require.Equal(t, intent.NameQuery{
		Pattern: "www.*", Project: "shop", Provider: "lab", Cluster: "edge+berlin", State: intent.Failed, Published: "False", Verified: "Unknown", Worst: true, Limit: 7, After: "x",
	}, w.lifecycle.query)
	first := answer.json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"edge/hub"}, first["externalDNS"])
	require.Equal(t, []any{"edge/berlin"}, first["clusters"])
}

// TestAQuestionForNamesIsJudged: all faults at once; and an index that cannot answer
// says when to ask again.
func TestAQuestionForNamesIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := w.send("GET", "/v2/names?name=a%3Fb&cluster=hub&state=Broken&sort=best&limit=0&hosts=x", nil).want(http.StatusBadRequest).Body.String()
	for _, says := range []string{
		"query parameter name must be a host name, in which * may stand for any text, as in www.*",
		"query parameter cluster must be a cluster as provider/cluster", "query parameter state must be one of Created", "query parameter sort must be name or worst",
		"query parameter limit must be a whole number from 1 to 1000", `unknown query parameter \"hosts\"`,
	} {
		require.Contains(t, text, says)
	}
	w.lifecycle.err = &intent.Error{Code: intent.Invalid, Detail: "no such page"}
	require.Contains(t, w.send("GET", "/v2/names?continue=x", nil).want(http.StatusBadRequest).Body.String(), "continue of the last page")
	w.lifecycle.err = &intent.Error{Code: intent.Unavailable, Detail: "the index of names is being filled", RetryAfter: 5e9}
	require.Equal(t, "5", w.send("GET", "/v2/names", nil).want(http.StatusServiceUnavailable).Header().Get("Retry-After"))
}

// TestANameIsExplainedToEveryCaller, who learns of other projects' names only that they
// are taken.
func TestANameIsExplainedToEveryCaller(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.lifecycle.found = found()
	w.token = "pv"
	own := w.send("GET", "/v2/names/www.lab.example", nil).want(http.StatusOK).json()
	require.Equal(t, "projects/shop/names/www.lab.example", own["owners"].([]any)[0].(map[string]any)["owner"])
	require.Equal(t, false, own["others"])
	others := w.send("GET", "/v2/names/bread.lab.example", nil).want(http.StatusOK)
	require.Equal(t, true, others.json()["others"])
	require.Empty(t, others.json()["owners"])
	require.NotContains(t, others.Body.String(), "bakery")
	w.lifecycle.err = intent.ErrNotFound("names/none.example")
	w.send("GET", "/v2/names/none.example", nil).want(http.StatusNotFound)
}

// TestTheFleetIsWhatTheCallerMayRead, with clusters as users write them.
func TestTheFleetIsWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.lifecycle.found = found()
	w.token = "pv"
	fleet := w.send("GET", "/v2/fleet?limit=3", nil).want(http.StatusOK)
	require.Len(t, fleet.json()["items"], 1)
	require.Equal(t, "edge/hub", fleet.json()["items"].([]any)[0].(map[string]any)["cluster"])
	require.NotContains(t, fleet.Body.String(), "bakery")
	troubles := w.send("GET", "/v2/troubles?limit=3", nil).want(http.StatusOK)
	require.Contains(t, troubles.Body.String(), `"cluster":"edge/hub"`)
	require.NotContains(t, troubles.Body.String(), "bakery")
	w.lifecycle.err = &intent.Error{Code: intent.Invalid, Detail: "no such page"}
	require.Contains(t, w.send("GET", "/v2/troubles?continue=x", nil).want(http.StatusBadRequest).Body.String(), "continue of the last page")
	require.Contains(t, w.send("GET", "/v2/fleet?continue=x", nil).want(http.StatusBadRequest).Body.String(), "continue of the last page")
}
