package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/access"
)

// tokenFile writes a token file and loads it.
func tokenFile(t *testing.T, content string) (string, *access.Authenticator) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	authenticator, err := access.Open(access.Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return file, authenticator
}

const everyRole = `# one of each
v,vera,viewer
e,emil,editor
o,olga,operator
a,anna,admin

pv,pavel,viewer,shop
pa, petra , admin , shop
other,otto,admin,bakery
`

func TestRightsAreWhatTheRolesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]string{
		"getDNSIntent": "viewer", "listProjects": "viewer", "getMetrics": "viewer", "getDeploymentIntentGroupStatus": "viewer",
		"putDNSIntent": "editor", "createDNSUpdateRecord": "editor", "deleteLogicalCloudKVPairs": "editor",
		"planDeploymentIntentGroup": "operator", "updateDNSUpdateRecord": "operator", "planDNSUpdateRecord": "operator",
		"createProject": "admin", "putCluster": "admin", "deleteClusterProvider": "admin", "createClusterKVPairs": "admin",
	}
	all := operations(w.doc)
	for id, role := range want {
		require.Equal(t, role, all[id].Extensions["x-role"], id)
	}
	var public []string
	for id, operation := range all {
		if operation.Security != nil {
			public = append(public, id)
		}
	}
	slices.Sort(public)
	require.Equal(t, []string{"getHealth", "getOpenAPI", "getReadiness", "getVersion"}, public)
}

func TestA401SaysHowToAuthenticate(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	answer := w.send("GET", "/v2/projects", nil).want(http.StatusUnauthorized)
	require.Equal(t, "Bearer", answer.Header().Get("WWW-Authenticate"))
	w.send("GET", "/v2/projects", nil, "Authorization", "Basic djp4").want(http.StatusUnauthorized)
	w.send("GET", "/v2/projects", nil, "Authorization", "bearer v").want(http.StatusOK)
}

func TestTheActorIsTheTokensSubject(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.token = "a"
	w.fill("")
	w.token = "o"
	w.send("POST", rows()[9].item+"/instantiate?confirm=abc", nil).want(http.StatusAccepted)
	w.send("POST", rows()[9].item+"/plan/?for=terminate", nil).want(http.StatusOK)
	group := rows()[9].item[len("/v2/"):]
	require.Equal(t, []string{"instantiate abc olga " + group, "plan terminate 0 " + group}, w.lifecycle.asked[len(w.lifecycle.asked)-2:])
}

// TestTakeoverNamesAGroup: on plan, instantiate and update.
func TestTakeoverNamesAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill("")
	group := rows()[9].item
	w.send("POST", group+"/plan?takeover=prod", nil).want(http.StatusOK)
	w.send("POST", group+"/instantiate?takeover=store/v1/prod&confirm=abc", nil).want(http.StatusAccepted)
	w.send("POST", group+"/update?takeover=prod", nil).want(http.StatusAccepted)
	at := " " + group[len("/v2/"):]
	require.Equal(t, []string{"plan takeover  prod" + at, "takeover instantiate store/v1/prod abc anonymous" + at, "takeover update prod  anonymous" + at}, w.lifecycle.asked[len(w.lifecycle.asked)-3:])
	for query, says := range map[string]string{
		"/plan?for=terminate&takeover=prod": "query parameter takeover is for instantiate, update and deploy",
		"/update?takeover=":                 "query parameter takeover must be the name of a deployment intent group, app/version/name, or its path",
		"/rollback?takeover=prod":           "takeover",
	} {
		require.Contains(t, w.send("POST", group+query, nil).want(http.StatusBadRequest).Body.String(), says)
	}
}

// TestDeployIsPlannedOrAccepted: of groups, logical clouds and records.
func TestDeployIsPlannedOrAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	const record, cloud = "/v2/projects/shop/dns-update-records/lab", "/v2/projects/shop/logical-clouds/eu"
	group := rows()[9].item
	for _, c := range []struct {
		asked, says string
		status      int
	}{
		{group + "/deploy?takeover=prod&confirm=abc", "deploy prod abc anonymous ", http.StatusAccepted},
		{group + "/deploy?dryRun=true", "plan  0 ", http.StatusOK},
		{group + "/deploy?dryRun=true&takeover=prod", "plan takeover  prod ", http.StatusOK},
		{group + "/plan?for=deploy", "plan  0 ", http.StatusOK},
		{cloud + "/deploy", "deploy   anonymous ", http.StatusAccepted},
		{record + "/deploy?adopt=old&confirm=abc", "deploy record old abc anonymous ", http.StatusAccepted},
		{record + "/deploy?dryRun=true", "plan record  ", http.StatusOK},
		{record + "/deploy?dryRun=true&adopt=old", "plan record old ", http.StatusOK},
		{record + "/plan?for=deploy", "plan record  ", http.StatusOK},
	} {
		w.send("POST", c.asked, nil).want(c.status)
		asked, _, _ := strings.Cut(c.asked, "?")
		require.Equal(t, c.says+strings.TrimPrefix(path.Dir(asked), "/v2/"), w.lifecycle.asked[len(w.lifecycle.asked)-1], c.asked)
	}
	w.send("POST", cloud+"/deploy?takeover=prod", nil).want(http.StatusBadRequest)
}

// TestAdoptionNamesAnOwnerID: on a record's plan and update.
func TestAdoptionNamesAnOwnerID(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	record := "/v2/projects/shop/dns-update-records/lab"
	w.send("POST", record+"/plan?adopt=legacy", nil).want(http.StatusOK)
	w.send("POST", record+"/update?adopt=legacy&confirm=abc", nil).want(http.StatusAccepted)
	at := " " + record[len("/v2/"):]
	require.Equal(t, []string{"plan record legacy" + at, "update record legacy abc anonymous" + at}, w.lifecycle.asked[len(w.lifecycle.asked)-2:])
	for _, owner := range []string{"", "a,b", "a%22b"} {
		require.Contains(t, w.send("POST", record+"/update?adopt="+owner, nil).want(http.StatusBadRequest).Body.String(),
			"query parameter adopt must be the txt-owner-id of an external-dns")
	}
	require.Contains(t, w.send("POST", rows()[9].item+"/update?adopt=legacy", nil).want(http.StatusBadRequest).Body.String(), "adopt")
}

func TestRollbackNamesARevision(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.token = "a"
	w.fill("")
	group := rows()[9].item
	w.token = "e"
	w.send("POST", group+"/rollback", nil).want(http.StatusForbidden)
	w.token = "o"
	w.send("POST", group+"/rollback?to=3&confirm=abc", nil).want(http.StatusAccepted)
	w.send("POST", group+"/rollback", nil).want(http.StatusAccepted)
	w.send("POST", group+"/plan?for=rollback&to=3", nil).want(http.StatusOK)
	at := " " + group[len("/v2/"):]
	require.Equal(t, []string{"rollback 3 abc olga" + at, "rollback 0  olga" + at, "plan rollback 3" + at}, w.lifecycle.asked[len(w.lifecycle.asked)-3:])

	for query, says := range map[string]string{
		"/rollback?to=0":                    "query parameter to must be a revision that is kept, from 1; leave it out for the one before the current",
		"/rollback?to=first":                "query parameter to must be a revision that is kept",
		"/plan?for=update&to=3":             "give it with for=rollback",
		"/plan?to=3":                        "give it with for=rollback",
		"/rollback?revision=3":              "unknown query parameter",
		"/rollback?to=1&to=2":               "more than once",
		"/rollback?to=99999999999999999999": "query parameter to",
	} {
		answer := w.send("POST", group+query, nil).want(http.StatusBadRequest)
		require.Contains(t, answer.Body.String(), says, query)
	}
}

func TestWithoutTokensEverybodyIsAnonymous(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	w.send("POST", rows()[9].item+"/terminate", nil).want(http.StatusAccepted)
	require.Contains(t, w.lifecycle.asked[len(w.lifecycle.asked)-1], "terminate false  anonymous ")
}

func TestATokenFileThatChangesIsReadAgain(t *testing.T) {
	t.Parallel()
	file, authenticator := tokenFile(t, "one,anna,admin\n")
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	rewrite := func(content string, at time.Duration) {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		stamp := time.Now().Add(at)
		require.NoError(t, os.Chtimes(file, stamp, stamp))
	}
	codes := func() map[string]int {
		result := map[string]int{}
		for _, token := range []string{"one", "two"} {
			w.token = token
			result[token] = w.send("GET", "/v2/projects", nil).Code
		}
		return result
	}
	require.Equal(t, map[string]int{"one": 200, "two": 401}, codes())
	rewrite("two,anna,admin\n", time.Second)
	require.Equal(t, map[string]int{"one": 401, "two": 200}, codes())
	rewrite("broken", 2*time.Second)
	require.Equal(t, map[string]int{"one": 401, "two": 200}, codes(), "the last good state holds")
	require.NoError(t, os.Remove(file))
	require.Equal(t, map[string]int{"one": 401, "two": 200}, codes())
	rewrite("one,anna,admin\n", 3*time.Second)
	require.Equal(t, map[string]int{"one": 200, "two": 401}, codes())
}

// TestOneAuthorizationCounts checks that two are refused, whichever of them is right,
// and also if they are in one header.
func TestOneAuthorizationCounts(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "one,anna,admin\ntwo,otto,viewer\n")
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Bearer one"}, http.StatusOK},
		{[]string{"Bearer one", "Bearer two"}, http.StatusUnauthorized},
		{[]string{"Bearer two", "Bearer one"}, http.StatusUnauthorized},
		{[]string{"Bearer one", "Bearer one"}, http.StatusUnauthorized},
		{[]string{"Bearer one", ""}, http.StatusUnauthorized},
		{[]string{"", "Bearer one"}, http.StatusUnauthorized},
		{[]string{"Bearer one", "Basic eDp5"}, http.StatusUnauthorized},
		{[]string{"Bearer one, Bearer two"}, http.StatusUnauthorized},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/projects", http.NoBody)
		request.Header["Authorization"] = c.headers
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, request)
		require.Equal(t, c.status, answer.Code, c.headers)
	}
}

// TestWhatNeedsRightsIsKeptByNoCache: answers and refusals. What is public may be kept.
func TestWhatNeedsRightsIsKeptByNoCache(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, "one,anna,admin\n")
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	for _, token := range []string{"one", "two"} {
		w.token = token
		for _, path := range []string{"/v2/projects", "/v2/projects/missing", "/metrics"} {
			require.Equal(t, "no-store", w.send("GET", path, nil).Header().Get("Cache-Control"), path)
		}
		require.Empty(t, w.send("GET", "/v2/openapi.yaml", nil).Header().Get("Cache-Control"))
	}
}
