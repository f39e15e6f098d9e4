package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// planned answers a plan of documents, given as collection and body in turn.
func (w *world) planned(documents ...string) (plan intent.DraftPlan) {
	w.t.Helper()
	answer := w.send("POST", "/v2/plan", draftOf(documents...)).want(http.StatusOK)
	require.NoError(w.t, json.Unmarshal(answer.Body.Bytes(), &plan))
	return plan
}

func draftOf(documents ...string) string {
	var all []string
	for i := 0; i < len(documents); i += 2 {
		all = append(all, `{"resource":"`+documents[i]+`",`+strings.TrimPrefix(documents[i+1], "{"))
	}
	return `{"documents":[` + strings.Join(all, ",") + `]}`
}

// said is what a plan says of documents and errors, a line each.
func said(plan intent.DraftPlan) string {
	var lines []string
	for _, d := range plan.Documents {
		lines = append(lines, d.Action+" "+string(d.Path))
	}
	for _, e := range plan.Errors {
		lines = append(lines, e.Pointer+": "+e.Detail)
	}
	return strings.Join(lines, "\n")
}

const labFoo = `{"metadata":{"name":"lab"},"spec":{"provider":"coredns"}}`

func TestDocumentsArePlannedAsIfTheyWereStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.kv.Revision()
	plan := w.planned("projects/shop/dns-update-records", labFoo, "projects", `{"metadata":{"name":"shop"},"spec":{}}`,
		"projects/shop/logical-clouds", `{"metadata":{"name":"eu"},"spec":{}}`,
		"projects/shop/composite-apps", `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`,
		"projects/shop/composite-apps/store/v1/deployment-intent-groups", `{"metadata":{"name":"prod","revision":7},"spec":{"logicalCloud":"eu"},"status":{"warnings":[]}}`)
	require.Equal(t, `create projects/shop/dns-update-records/lab
create projects/shop
create projects/shop/logical-clouds/eu
create projects/shop/composite-apps/store/v1
create projects/shop/composite-apps/store/v1/deployment-intent-groups/prod`, said(plan))
	require.True(t, plan.Changes)
	require.Len(t, plan.Owners, 2, "the logical cloud has no DNS CR intent")
	require.EqualValues(t, "projects/shop/dns-update-records/lab", plan.Owners[0].Path)
	require.EqualValues(t, "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod", plan.Owners[1].Path)
	require.True(t, plan.Owners[1].Changes)
	require.Empty(t, plan.Owners[1].Plan.Token)
	require.Equal(t, before, w.kv.Revision(), "nothing was stored")
}

func TestAPlanTellsWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	const records, group = "projects/shop/dns-update-records", "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	stored := w.send("GET", "/v2/"+records+"/lab", nil).want(http.StatusOK).Body.String()
	plan := w.planned(records, stored)
	require.Equal(t, "unchanged "+records+"/lab", said(plan))
	require.False(t, plan.Changes, "a provider that nobody uses")
	require.Equal(t, "update "+records+"/lab", said(w.planned(records, strings.Replace(stored, `"description":"`, `"description":"new `, 1))))

	plan = w.planned("projects/shop/logical-clouds", strings.Replace(w.send("GET", "/v2/projects/shop/logical-clouds/eu", nil).Body.String(), `"metadata":{`, `"metadata":{"userData2":"x",`, 1))
	var owners []intent.Path
	for _, owner := range plan.Owners {
		owners = append(owners, owner.Path)
	}
	require.Equal(t, []intent.Path{group, "projects/shop/logical-clouds/eu"}, owners, "the groups of a logical cloud, and its cluster DNS")
}

// TestAllFaultsOfADraftAreTold with pointers into the body. Documents below a refused one
// have no fault of their own.
func TestAllFaultsOfADraftAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	plan := w.planned(
		"projects/shop/dns-update-records", `{"metadata":{"name":"a"},"spec":{"provider":"corednss","x":1}}`,
		"projects/shop/nothings", `{"metadata":{"name":"a"}}`,
		"projects/shop/logical-clouds", `{"metadata":{"name":"us"},"spec":{"namespace":5}}`,
		"projects/shop/logical-clouds/us/cluster-references", `{"metadata":{"name":"x"},"spec":{"clusterProvider":"edge","cluster":"hub"}}`,
		"projects/none/logical-clouds", `{"metadata":{"name":"us"},"spec":{}}`,
		"projects/shop/dns-update-records", labFoo, "projects/shop/dns-update-records", labFoo)
	text := said(plan)
	for _, part := range []string{
		"/documents/0/spec/provider: ", "/documents/0/spec/x: ",
		`/documents/1/resource: "projects/shop/nothings" is no collection with such a document`,
		"/documents/2/spec/namespace: ", "refused projects/shop/logical-clouds/us/cluster-references/x",
		"/documents/4: projects/none does not exist", "/documents/6: projects/shop/dns-update-records/lab is given twice",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "/documents/3")
	require.Empty(t, plan.Owners, "none is planned while documents are refused")
}

// TestADraftTellsNothingOfOtherProjects: the role viewer in one project is enough for its
// documents, and for those alone.
func TestADraftTellsNothingOfOtherProjects(t *testing.T) {
	t.Parallel()
	_, authenticator := tokenFile(t, everyRole)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	w.token = "a"
	w.fill("")
	w.token = "pv"
	require.Equal(t, "update projects/shop/dns-update-records/lab", said(w.planned("projects/shop/dns-update-records", labFoo)))
	for _, project := range []string{"bakery", "none"} {
		require.Contains(t, said(w.planned("projects/"+project+"/dns-update-records", labFoo)), "/documents/0/resource: pavel has no rights on project "+project)
	}
	require.Contains(t, said(w.planned("cluster-providers", `{"metadata":{"name":"edge"}}`)), "/documents/0/resource: pavel has rights on single projects only")
	w.token = "other"
	require.Contains(t, said(w.planned("projects/shop/dns-update-records", labFoo)), "otto has no rights on project shop")
	w.token = ""
	w.send("POST", "/v2/plan", draftOf("projects", `{"metadata":{"name":"shop"}}`)).want(http.StatusUnauthorized)
}

// TestADraftIsBounded in documents, in bytes and in owners, before anything is planned.
func TestADraftIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	many := func(count int, description string) string {
		var all []string
		for n := range count {
			all = append(all, "projects/shop/dns-update-records", fmt.Sprintf(`{"metadata":{"name":"r%d","description":%q},"spec":{"provider":"coredns"}}`, n, description))
		}
		return draftOf(all...)
	}
	began := time.Now()
	require.Contains(t, w.send("POST", "/v2/plan", many(7000, "")).want(http.StatusBadRequest).problem(), "/documents: ")
	w.send("POST", "/v2/plan", many(10000, strings.Repeat("x", 100))).want(http.StatusRequestEntityTooLarge)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Contains(t, w.send("POST", "/v2/plan", many(101, "")).want(http.StatusBadRequest).problem(), "belong to 101 groups, logical clouds, providers and names, and at most 100 are planned at once")
	w.send("POST", "/v2/plan", `{"documents":[]}`).want(http.StatusBadRequest)
	w.send("POST", "/v2/plan", `{}`).want(http.StatusBadRequest)
}

// bigPlanner plans many large objects for each owner.
type bigPlanner struct{ service.Planner }

// PlanRecord implements service.Planner.
func (bigPlanner) PlanRecord(context.Context, intent.Path, string) (plan intent.Plan, err error) {
	for range 100 {
		plan.Objects = append(plan.Objects, intent.ObjectChange{Action: "create", Cluster: "edge+hub", Kind: "ConfigMap", Diff: strings.Repeat("x", 20<<10)}, intent.ObjectChange{Action: "unchanged", Cluster: "edge+hub"})
	}
	return plan, nil
}

// bigLifecycle plans drafts by a bigPlanner.
type bigLifecycle struct{ service.Lifecycle }

// Draft implements service.Lifecycle.
func (l bigLifecycle) Draft() service.Draft {
	made := l.Lifecycle.Draft()
	made.Planner = bigPlanner{made.Planner}
	return made
}

// TestTheAnswerToADraftIsBounded: objects without room are counted.
func TestTheAnswerToADraftIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) { o.Lifecycle = bigLifecycle{o.Lifecycle} }).fill("")
	var all []string
	for n := range 5 {
		all = append(all, "projects/shop/dns-update-records", fmt.Sprintf(`{"metadata":{"name":"r%d"},"spec":{"provider":"coredns"}}`, n))
	}
	answer := w.send("POST", "/v2/plan", draftOf(all...)).want(http.StatusOK)
	require.Less(t, answer.Body.Len(), 6<<20)
	var plan intent.DraftPlan
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &plan))
	last := plan.Owners[4]
	require.True(t, last.Changes)
	require.Empty(t, last.Plan.Objects)
	require.Equal(t, &intent.ObjectCounts{Create: 100, Unchanged: 100}, last.Plan.ObjectsLeftOut)
}

// TestADraftPlansShortDNSIntents whose traffic group is made as needed, and single names.
func TestADraftPlansShortDNSIntents(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("TrafficGroupIntent")
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	before := w.kv.Revision()
	plan := w.planned(group+"/dns-intents", `{"metadata":{"name":"www"},"spec":{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}}`,
		"projects/shop/names", `{"metadata":{"name":"one.lab.example"},"spec":{"addresses":["203.0.113.7"],"provider":"lab"}}`)
	require.Equal(t, "create "+group+"/traffic-group-intents/default/dns-intents/www\ncreate projects/shop/names/one.lab.example", said(plan))
	require.Len(t, plan.Owners, 2)
	require.EqualValues(t, group, plan.Owners[0].Path)
	require.EqualValues(t, "projects/shop/names/one.lab.example", plan.Owners[1].Path)
	require.Equal(t, before, w.kv.Revision())
}
