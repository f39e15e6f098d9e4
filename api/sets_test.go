package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const setsPath = "/v2/projects/shop/sets"

// TestADocumentIsInOneSet of its project, also when a path leaves out the default traffic
// group.
func TestADocumentIsInOneSet(t *testing.T) {
	t.Parallel()
	const www, group = "/dns-intents/www", "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	w := newWorld(t).fill("ClusterProvider")
	w.send("PUT", setsPath+"/a", `{"metadata":{"name":"a"},"spec":{"documents":["projects/shop/names/b.lab.example","`+group+www+`"]}}`).want(http.StatusCreated)
	stored := w.send("GET", setsPath+"/a", nil).want(http.StatusOK).Body.String()
	require.Contains(t, stored, `["`+group+`/traffic-group-intents/default`+www+`","projects/shop/names/b.lab.example"]`)
	other := `{"metadata":{"name":"b"},"spec":{"documents":["projects/shop/names/x.lab.example","` + group + www + `"]}}`
	refused := w.send("PUT", setsPath+"/b", other).want(http.StatusConflict)
	require.Contains(t, refused.problem(), `is in set "a"; a document is in one set, so remove it there first`)
	w.send("PUT", setsPath+"/a", `{"metadata":{"name":"a"},"spec":{"documents":[]}}`).want(http.StatusOK)
	w.send("PUT", setsPath+"/b", other).want(http.StatusCreated)
}

func TestEverythingWrongWithASetIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("ClusterProvider")
	refused := w.send("POST", setsPath, `{"metadata":{"name":"a"},"spec":{"documents":["projects/shop/names","projects/bank/names/a.lab.example",
		"projects/shop","projects/shop/sets/b","projects/shop/names/a.lab.example","projects/shop/names/a.lab.example"]}}`).want(http.StatusBadRequest).problem()
	require.Contains(t, refused, `/spec/documents/0: "projects/shop/names" is not the path of a document`)
	require.Contains(t, refused, `/spec/documents/1: "projects/bank/names/a.lab.example" is not a document of project "shop"`)
	require.Contains(t, refused, `/spec/documents/2: "projects/shop" is not a document of project "shop"`)
	require.Contains(t, refused, `/spec/documents/3: "projects/shop/sets/b" is a set`)
	require.Contains(t, refused, `/spec/documents/5: is the same as /spec/documents/4`)
}

// TestDeletionsArePlannedAsIfTheyWereDone, and nothing is deleted.
func TestDeletionsArePlannedAsIfTheyWereDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	before := w.kv.Revision()
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	with := func(deleted string) string {
		return `{"documents":[{"resource":"projects","metadata":{"name":"shop"}}],"deleted":[` + deleted + `]}`
	}
	planned := func(deleted string) (plan intent.DraftPlan) {
		t.Helper()
		require.NoError(t, json.Unmarshal(w.send("POST", "/v2/plan", with(deleted)).want(http.StatusOK).Body.Bytes(), &plan))
		return plan
	}
	plan := planned(`"` + group + `/dns-intents/www","projects/shop/names/no.lab.example","projects/shop/names/shop.lab.example"`)
	require.Equal(t, "update projects/shop\ndelete "+group+"/traffic-group-intents/default/dns-intents/www\nunchanged projects/shop/names/no.lab.example\ndelete projects/shop/names/shop.lab.example", said(plan))
	require.True(t, plan.Changes)
	var owners []intent.Path
	for _, owner := range plan.Owners {
		owners = append(owners, owner.Path)
	}
	require.Equal(t, []intent.Path{"projects/shop/names/shop.lab.example", group}, owners)
	refused := said(planned(`"projects/shop/names","projects/shop"`))
	require.Contains(t, refused, `/deleted/0: "projects/shop/names" is not the path of a document; write it as in projects/shop/dns-update-records/lab`)
	require.Contains(t, refused, `/deleted/1: projects/shop is among the documents, too`)
	require.Equal(t, before, w.kv.Revision())
}
