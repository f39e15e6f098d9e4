package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// spellings are the ways in which a path may be written.
func spellings() map[string]func(string) string {
	singular := func(path string) string { return strings.Replace(path, "/v2/projects", "/v2/project", 1) }
	return map[string]func(string) string{
		"as documented":        func(path string) string { return path },
		"the seed's project":   singular,
		"trailing slash":       func(path string) string { return path + "/" },
		"seed, trailing slash": func(path string) string { return singular(path) + "/" },
	}
}

func TestEveryVerbOnEveryResourceInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, r := range rows() {
		for name, spell := range spellings() {
			t.Run(r.one+"/"+name, func(t *testing.T) {
				t.Parallel()
				walkThroughVerbs(newWorld(t).fill(r.one), r, spell)
			})
		}
	}
}

// walkThroughVerbs is the life of a document over HTTP.
func walkThroughVerbs(w *world, r row, spell func(string) string) {
	t, body := w.t, w.example(r)
	collection, item := spell(r.collection), spell(r.item)
	require.Equal(t, []any{}, w.send("GET", collection, nil).want(http.StatusOK).json()["items"], "an empty list is []")
	w.send("GET", item, nil).want(http.StatusNotFound)
	w.send("DELETE", item, nil).want(http.StatusNotFound)

	created := w.send("POST", collection, body).want(http.StatusCreated)
	require.Equal(t, r.stored(), created.Header().Get("Location"))
	require.Equal(t, `"1"`, created.Header().Get("ETag"))
	require.Contains(t, w.send("POST", collection, body).want(http.StatusConflict).problem(), "exists already")

	got := w.send("GET", item, nil).want(http.StatusOK)
	require.JSONEq(t, created.Body.String(), got.Body.String())
	require.Equal(t, created.Header().Get("ETag"), got.Header().Get("ETag"))
	w.send("HEAD", item, nil).want(http.StatusOK)
	list := w.send("GET", collection, nil).want(http.StatusOK).json()
	require.Len(t, list["items"], 1)
	require.NotContains(t, list, "continue")

	sentBack := w.send("PUT", item, got.Body.String()).want(http.StatusOK)
	require.Equal(t, `"1"`, sentBack.Header().Get("ETag"), "what GET answers, sent back, changes nothing")
	metadata, _ := body["metadata"].(map[string]any)
	metadata["description"] = "another"
	changed := w.send("PUT", item, body).want(http.StatusOK)
	require.Equal(t, `"2"`, changed.Header().Get("ETag"))
	require.Equal(t, "another", changed.json()["metadata"].(map[string]any)["description"])

	metadata["name"] = "other"
	require.Contains(t, w.send("PUT", item, body).want(http.StatusBadRequest).problem(), "/metadata/name: ")
	w.send("DELETE", item, nil).want(r.deleted())
	w.send("GET", item, nil).want(http.StatusNotFound)
	again := w.send("PUT", item, w.example(r)).want(http.StatusCreated)
	require.Equal(t, r.stored(), again.Header().Get("Location"))
}

func TestAMissingParentIs404(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range rows() {
		if strings.Count(r.collection, "/") == 2 {
			continue // at the top
		}
		w.send("GET", r.collection, nil).want(http.StatusNotFound)
		require.Contains(t, w.send("POST", r.collection, w.example(r)).want(http.StatusNotFound).problem(), "does not exist", r.one)
		w.send("PUT", r.item, w.example(r)).want(http.StatusNotFound)
	}
}

func TestAListHasPagesAndAPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.send("POST", "/v2/projects", fmt.Sprintf(`{"metadata":{"name":"p%d"}}`, i)).want(http.StatusCreated)
	}
	w.send("POST", "/v2/projects", `{"metadata":{"name":"q"}}`).want(http.StatusCreated)
	var names []string
	query := "?namePrefix=p&limit=2"
	for pages := 0; ; pages++ {
		require.Less(t, pages, 4)
		page := w.send("GET", "/v2/project"+query, nil).want(http.StatusOK).json()
		items, _ := page["items"].([]any)
		require.LessOrEqual(t, len(items), 2)
		for _, item := range items {
			names = append(names, item.(map[string]any)["metadata"].(map[string]any)["name"].(string))
		}
		token, more := page["continue"].(string)
		if !more {
			break
		}
		query = "?namePrefix=p&limit=2&continue=" + token
	}
	require.Equal(t, []string{"p0", "p1", "p2", "p3", "p4"}, names)
}

func TestABadQueryIs400AndNamesTheParameter(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	for query, want := range map[string]string{
		"/v2/projects?limit=x":                    "query parameter limit must be a whole number from 1 to 1000",
		"/v2/projects?limit=0":                    "query parameter limit must be a whole number from 1 to 1000",
		"/v2/projects?limit=1001":                 "query parameter limit must be",
		"/v2/projects?limit=":                     "query parameter limit must be",
		"/v2/projects?limit=1&limit=2":            "query parameter limit is given more than once",
		"/v2/projects?continue=%00":               "query parameter continue must be the continue of the last page",
		"/v2/projects?continue=":                  "query parameter continue must be",
		"/v2/projects?namePrefix=a%20b":           "query parameter namePrefix must be the beginning of a name",
		"/v2/projects?limt=5":                     `unknown query parameter "limt"; did you mean "limit"?`,
		"/v2/projects?limit=1;continue=x":         "the query is not escaped",
		"/v2/projects?namePrefix=%zz":             "the query is not escaped",
		"/v2/projects/sh%20op":                    "path parameter project must be 1 to 63 letters",
		"/v2/projects/" + strings.Repeat("a", 64): "path parameter project must be 1 to 63 letters",
		"/v2/projects/a%2Fb":                      "path parameter project must be",
		"/v2/projects/-a/dns-update-records":      "path parameter project must be",
	} {
		require.Contains(t, w.send("GET", query, nil).want(http.StatusBadRequest).problem(), want, query)
	}
	plan := rows()[9].item + "/plan"
	require.Contains(t, w.send("POST", plan+"?for=everything", nil).want(http.StatusBadRequest).problem(),
		`query parameter for must be one of "deploy", "instantiate", "update", "rollback", "terminate"`)
	require.Contains(t, w.send("POST", rows()[9].item+"/instantiate?confrim=x", nil).want(http.StatusBadRequest).problem(),
		`did you mean "confirm"?`)
	w.send("POST", rows()[9].item+"/instantiate?confirm=", nil).want(http.StatusBadRequest)
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	there, gone := "/v2/projects/shop", "/v2/projects/none"
	for _, c := range []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{"match", "PUT", there, []string{"If-Match", `"1"`}, 200},
		{"one of several", "PUT", there, []string{"If-Match", `"7", "1"`}, 200},
		{"any that exists", "PUT", there, []string{"If-Match", "*"}, 200},
		{"another revision", "PUT", there, []string{"If-Match", `"2"`}, 412},
		{"a weak tag never matches", "PUT", there, []string{"If-Match", `W/"1"`}, 412},
		{"match on what does not exist", "PUT", gone, []string{"If-Match", `"1"`}, 412},
		{"any on what does not exist", "PUT", gone, []string{"If-Match", "*"}, 412},
		{"none on what exists", "PUT", there, []string{"If-None-Match", "*"}, 412},
		{"none on what does not exist", "PUT", gone, []string{"If-None-Match", "*"}, 201},
		{"not this revision", "PUT", there, []string{"If-None-Match", `"1"`}, 412},
		{"not this revision, weakly", "PUT", there, []string{"If-None-Match", `W/"1"`}, 412},
		{"not another revision", "PUT", there, []string{"If-None-Match", `"2"`}, 200},
		{"both", "PUT", there, []string{"If-Match", `"1"`, "If-None-Match", `"2"`}, 200},
		{"without quotes", "PUT", there, []string{"If-Match", "1"}, 200},
		{"another one without quotes", "PUT", there, []string{"If-Match", "2"}, 412},
		{"no tag", "PUT", there, []string{"If-Match", "first"}, 400},
		{"nothing", "PUT", there, []string{"If-Match", ""}, 400},
		{"delete, match", "DELETE", there, []string{"If-Match", `"1"`}, 204},
		{"delete, another revision", "DELETE", there, []string{"If-Match", `"3"`}, 412},
		{"delete, match on what does not exist", "DELETE", gone, []string{"If-Match", `"1"`}, 412},
		{"delete, any on what does not exist", "DELETE", gone, []string{"If-Match", "*"}, 412},
		{"delete, none on what does not exist", "DELETE", gone, []string{"If-None-Match", "*"}, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
			var body any
			if c.method == "PUT" {
				body = `{"metadata":{"name":"` + c.path[len("/v2/projects/"):] + `","description":"new"}}`
			}
			before := w.kv.Revision()
			w.send(c.method, c.path, body, c.header...).want(c.want)
			if c.want >= 400 {
				require.Equal(t, before, w.kv.Revision(), "a refusal leaves no trace")
			}
		})
	}
}

// TestEveryActionHoldsIfMatchAgainstItsDocument: the ETag that a user has read
// is that of the deployment intent group, the record or the cluster.
func TestEveryActionHoldsIfMatchAgainstItsDocument(t *testing.T) {
	w := newWorld(t).fill("")
	for _, d := range inOrder(w.doc) {
		if d.method != http.MethodPost || d.RequestBody != nil || d.OperationID == "revertFailover" { // a record is no document of users: it has a token for that
			continue
		}
		t.Run(d.OperationID, func(t *testing.T) {
			action := d.target(false)
			owner := action[:strings.LastIndexByte(action, '/')]
			tag := w.send("GET", owner, nil).want(http.StatusOK).Header().Get("ETag")
			asked := len(w.lifecycle.asked)
			for _, header := range [][]string{{"If-Match", `"7"`}, {"If-Match", "W/" + tag}, {"If-None-Match", "*"}} {
				problem := w.send("POST", action, nil, header...).want(http.StatusPreconditionFailed).problem()
				require.Contains(t, problem, strings.TrimPrefix(owner, "/v2/"))
			}
			w.send("POST", action, nil, "If-Match", "first").want(http.StatusBadRequest)
			w.send("POST", owner+"x"+strings.TrimPrefix(action, owner), nil, "If-Match", "*").want(http.StatusPreconditionFailed)
			require.Len(t, w.lifecycle.asked, asked, "nothing was begun")
			answer := w.send("POST", action, nil, "If-Match", tag)
			require.Less(t, answer.Code, http.StatusMultipleChoices, answer.Body)
			require.Greater(t, len(w.lifecycle.asked), asked)
		})
	}
}

func TestDeletingWhatIsNeededIs409AndNamesBothEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	for path, wants := range map[string][]string{
		"/v2/projects/shop":                         {"projects/shop cannot be deleted", "it has projects/shop/dns-update-records/lab; delete that first"},
		"/v2/projects/shop/logical-clouds/eu":       {"it has projects/shop/logical-clouds/eu/cluster-references/berlin"},
		"/v2/cluster-providers/edge/clusters/hub":   {"cluster-providers/edge/clusters/hub cannot", "projects/shop/dns-update-records/lab refers to it"},
		"/v2/projects/shop/dns-update-records/lab":  {"lab cannot", "projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list refers to it"},
		"/v2/projects/shop/composite-apps/store/v1": {"it has projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"},
		rows()[10].item:                             {"it has ", "/dns-intents/www"},
	} {
		problem := w.send("DELETE", path, nil).want(http.StatusConflict).problem()
		for _, want := range wants {
			require.Contains(t, problem, want)
		}
	}
}

// deployedShop is a world with a group that is deployed by a record to a
// cluster, as pkg/release notes it.
func deployedShop(t *testing.T) (w *world, group, record, hub intent.Path) {
	w = newWorld(t).fill("DNSIntent")
	group, record, hub = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", "projects/shop/dns-update-records/lab", "cluster-providers/edge/clusters/hub"
	for owner, refs := range map[intent.Path][]intent.Path{group: {group, record, hub}, record: {record, hub}} {
		_, err := w.store.Put(t.Context(), intent.Write{Path: intent.Join(intent.LifecycleCollection, string(owner)), Refs: refs, Body: []byte(`{}`)})
		require.NoError(t, err)
	}
	for _, association := range []string{"projects/shop/logical-clouds/eu", string(hub)} {
		w.send("DELETE", "/v2/"+association+"/kv-pairs/dns-update-record-list", nil).want(http.StatusNoContent)
	}
	return w, group, record, hub
}

func TestDeletingWhatIsInUseIs409AndTellsEachUserOnce(t *testing.T) {
	t.Parallel()
	w, group, record, hub := deployedShop(t)
	refusal := func(path intent.Path) string {
		return w.send("DELETE", "/v2/"+string(path), nil).want(http.StatusConflict).problem()
	}
	require.Equal(t, string(group)+` cannot be deleted: it is needed by its own release and 1 more
: it is instantiated; terminate it first
: it has `+string(group)+`/traffic-group-intents/front; delete that first`, refusal(group))
	w.send("DELETE", "/v2/"+string(group)+"/traffic-group-intents/front", nil).want(http.StatusNoContent)
	require.Equal(t, string(group)+" cannot be deleted: it is instantiated; terminate it first", refusal(group))
	require.Equal(t, string(record)+" cannot be deleted: it is in use by the current release of "+string(group)+
		"; terminate that, or update it without this, first", refusal(record), "not once more for the record's own release")
	require.Equal(t, string(hub)+` cannot be deleted: it is needed by `+string(group)+` and 3 more
: it is in use by the current release of `+string(group)+`; terminate that, or update it without this, first
: it is in use by the current release of `+string(record)+`, which refers to it, too; terminate that one's users, or move it, first
: projects/shop/logical-clouds/eu refers to it
: projects/shop/logical-clouds/eu/cluster-references/berlin refers to it`, refusal(hub))
}

func TestDeletingWhatIsTerminatingSaysToWait(t *testing.T) {
	t.Parallel()
	w, group, record, _ := deployedShop(t)
	w.lifecycle.state = intent.Terminating
	w.send("DELETE", "/v2/"+string(group)+"/traffic-group-intents/front", nil).want(http.StatusNoContent)
	require.Equal(t, string(group)+" cannot be deleted: it is terminating; wait until it is Terminated, and try again",
		w.send("DELETE", "/v2/"+string(group), nil).want(http.StatusConflict).problem())
	require.Contains(t, w.send("DELETE", "/v2/"+string(record), nil).want(http.StatusConflict).problem(),
		string(group)+"; that is terminating: wait until it is Terminated")
}

func TestOfManyUsersTenAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("POST", "/v2/projects", `{"metadata":{"name":"shop"}}`).want(http.StatusCreated)
	for i := range 13 {
		w.send("POST", "/v2/projects/shop/logical-clouds", fmt.Sprintf(`{"metadata":{"name":"c%02d"},"spec":{}}`, i)).want(http.StatusCreated)
	}
	problem := w.send("DELETE", "/v2/projects/shop", nil).want(http.StatusConflict).problem()
	require.Contains(t, problem, "it is needed by projects/shop/logical-clouds/c00 and 12 more")
	require.Contains(t, problem, "it has projects/shop/logical-clouds/c09; delete that first\n: and 3 more")
	require.NotContains(t, problem, "c10")
}

func TestDeletingARecordWhoseExternalDNSIsStillThereIs409AndNamesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSIntent")
	record := intent.Path("projects/shop/dns-update-records/lab")
	_, err := w.store.Put(t.Context(), intent.Write{
		Path: intent.Join(intent.LifecycleCollection, string(record)), Refs: []intent.Path{record}, Body: []byte(`{}`),
	})
	require.NoError(t, err)
	require.Contains(t, w.send("DELETE", "/v2/"+string(record), nil).want(http.StatusConflict).problem(),
		"it still publishes names, or removes the last ones, as its status tells")
}

func TestAReferenceToWhatDoesNotExistIs409AndNamesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("ClusterReference")
	problem := w.send("POST", "/v2/projects/shop/logical-clouds/eu/cluster-references",
		`{"metadata":{"name":"x"},"spec":{"clusterProvider":"edge","cluster":"nowhere"}}`).want(http.StatusConflict).problem()
	require.Contains(t, problem, "nowhere")
}

func TestOneValueOfAKVDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	pairs := rows()[7].item
	require.JSONEq(t, `{"value":"lab"}`, w.send("GET", pairs+"?key=key1", nil).want(http.StatusOK).Body.String())
	require.Contains(t, w.send("GET", pairs+"/?key=key2", nil).want(http.StatusNotFound).problem(), `has no key "key2"`)
}

func TestARecordCarriesItsStatusAndNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	item := rows()[3].item
	for _, method := range []string{"GET", "PUT"} {
		var body any
		if method == "PUT" {
			body = w.example(rows()[3])
		}
		answer := w.send(method, item, body).want(http.StatusOK)
		require.NotContains(t, answer.Body.String(), "swordfish")
		status, _ := answer.json()["status"].(map[string]any)
		require.Equal(t, map[string]any{"clusterProvider": "edge", "cluster": "hub"}, status["home"])
		require.IsType(t, []any{}, status["warnings"])
		require.NotEmpty(t, status["deployments"])
	}
	listed := w.send("GET", rows()[3].collection, nil).want(http.StatusOK)
	require.NotContains(t, listed.Body.String(), "swordfish")
	items, _ := listed.json()["items"].([]any)
	require.Equal(t, w.send("GET", item, nil).json(), items[0], "a list tells as much")
	doc, err := w.store.Get(t.Context(), "projects/shop/dns-update-records/lab")
	require.NoError(t, err)
	require.NotContains(t, string(doc.Body), "swordfish")
	sealed := slices.ContainsFunc(doc.Refs, func(p intent.Path) bool { return strings.HasPrefix(string(p), "secrets/") })
	require.True(t, sealed, "the record holds its sealed value")
}

func TestAPutWithoutTheSecretKeepsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	item := rows()[3].item
	before, err := w.store.Get(t.Context(), "projects/shop/dns-update-records/lab")
	require.NoError(t, err)
	got := w.send("GET", item, nil).want(http.StatusOK)
	w.send("PUT", item, got.Body.String()).want(http.StatusOK)
	after, err := w.store.Get(t.Context(), "projects/shop/dns-update-records/lab")
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestWhatNeedsNoQueryTakesAny: load balancers and browsers add what they like.
func TestWhatNeedsNoQueryTakesAny(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/healthz", "/readyz", "/version", "/metrics", "/v2/openapi.yaml"} {
		for _, query := range []string{"?v=2", "?a;b", "?%zz", "?"} {
			w.send(http.MethodGet, path+query, nil).want(http.StatusOK)
		}
	}
}

// names are the names on a page.
func (a *answer) names() []string {
	a.t.Helper()
	items, _ := a.want(http.StatusOK).json()["items"].([]any)
	names := make([]string, 0, len(items))
	for _, item := range items {
		names = append(names, item.(map[string]any)["metadata"].(map[string]any)["name"].(string))
	}
	return names
}

func TestPagesGoOnWhereTheyEndedWhateverChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := func(name string) {
		w.send("POST", "/v2/projects", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)).want(http.StatusCreated)
	}
	for _, name := range []string{"b", "d", "f", "h"} {
		project(name)
	}
	first := w.send("GET", "/v2/projects?limit=2", nil)
	require.Equal(t, []string{"b", "d"}, first.names())
	next := "/v2/projects?limit=2&continue=" + first.json()["continue"].(string)
	w.send("DELETE", "/v2/projects/d", nil).want(http.StatusNoContent)
	project("c") // before the end of the page: not seen
	project("e") // after it: seen
	second := w.send("GET", next, nil)
	require.Equal(t, []string{"e", "f"}, second.names())
	third := w.send("GET", "/v2/projects?limit=2&continue="+second.json()["continue"].(string), nil)
	require.Equal(t, []string{"h"}, third.names())
	require.NotContains(t, third.json(), "continue", "the last page says so")

	exact := w.send("GET", "/v2/projects?limit=5", nil)
	require.Len(t, exact.names(), 5)
	require.NotContains(t, exact.json(), "continue", "nothing follows")
	require.Empty(t, w.send("GET", "/v2/projects?namePrefix=z", nil).names())
	require.Contains(t, w.send("GET", next+"&namePrefix=h", nil).want(http.StatusBadRequest).problem(), "continue", "of another list")
}

func TestAPageHas500ItemsUnlessItIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 501 {
		w.send("POST", "/v2/cluster-providers", fmt.Sprintf(`{"metadata":{"name":"p%03d"}}`, i)).want(http.StatusCreated)
	}
	page := w.send("GET", "/v2/cluster-providers", nil)
	require.Len(t, page.names(), 500)
	require.Contains(t, page.json(), "continue")
	require.Len(t, w.send("GET", "/v2/cluster-providers?limit=1000", nil).names(), 501)
}

func TestVersionsOfACompositeAppAreOnPagesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("CompositeApp")
	apps := "/v2/projects/shop/composite-apps"
	for _, version := range []string{"v1", "v2", "v10"} {
		for _, name := range []string{"store", "store2"} {
			w.send("POST", apps, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"compositeAppVersion":%q}}`, name, version)).want(http.StatusCreated)
		}
	}
	var seen []string
	query := "?limit=1"
	for {
		page := w.send("GET", apps+query, nil).want(http.StatusOK).json()
		for _, item := range page["items"].([]any) {
			app := item.(map[string]any)
			seen = append(seen, app["metadata"].(map[string]any)["name"].(string)+"/"+app["spec"].(map[string]any)["compositeAppVersion"].(string))
		}
		token, more := page["continue"].(string)
		if !more {
			break
		}
		query = "?limit=1&continue=" + token
	}
	require.ElementsMatch(t, []string{"store/v1", "store/v10", "store/v2", "store2/v1", "store2/v10", "store2/v2"}, seen)
	require.Len(t, w.send("GET", apps+"?namePrefix=store2", nil).names(), 3)
	require.Len(t, w.send("GET", apps+"?namePrefix=store/", nil).names(), 3)
}

// TestAWriteOfNamesThatOthersHaveIsAnsweredWithAWarning, and is done all the
// same. What is asked of names may fail, the write not with it.
func TestAWriteOfNamesThatOthersHaveIsAnsweredWithAWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSIntent")
	at := slices.IndexFunc(rows(), func(r row) bool { return r.one == "DNSIntent" })
	r := rows()[at]
	w.lifecycle.warnings = []intent.Warning{{Parameter: "hostnames/0", Message: "is another project's"}}
	told := map[string]any{"warnings": []any{map[string]any{"parameter": "hostnames/0", "message": "is another project's"}}}
	created := w.send("POST", r.collection, w.example(r)).want(http.StatusCreated)
	require.Equal(t, told, created.json()["status"])
	require.Contains(t, w.lifecycle.asked, "name warnings anonymous "+strings.TrimPrefix(r.item, "/v2/"))
	require.NotContains(t, w.send("GET", r.item, nil).want(http.StatusOK).json(), "status", "a plan tells what holds later")
	replaced := w.send("PUT", r.item, created.Body.String()).want(http.StatusOK)
	require.Equal(t, told, replaced.json()["status"])
	w.lifecycle.warnings = slices.Repeat(w.lifecycle.warnings, 130)
	many := w.send("PUT", r.item, created.Body.String()).want(http.StatusOK).json()["status"].(map[string]any)["warnings"].([]any)
	require.Len(t, many, 101)
	require.Equal(t, map[string]any{"parameter": "hostnames", "message": "and 30 more"}, many[100])
	w.lifecycle.err = &intent.Error{Code: intent.Unavailable, Detail: "the store is gone"}
	require.NotContains(t, w.send("PUT", r.item, created.Body.String()).want(http.StatusOK).json(), "status")
}
