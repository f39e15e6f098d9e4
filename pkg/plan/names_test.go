package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestSlugs(t *testing.T) {
	for _, c := range []struct {
		text    string
		longest int
		want    string
	}{
		{"web", 40, "web"},
		{"Web_Shop.eu", 40, "web-shop-eu"},
		{"--a--b--", 40, "a-b"},
		{"abc-def", 4, "abc"},
		{"überall", 40, "berall"},
		{"", 40, "x"},
		{"...", 40, "x"},
	} {
		assert.Equal(t, c.want, Slug(c.text, c.longest), "%q", c.text)
	}
}

func TestHashTellsPartsApart(t *testing.T) {
	assert.Regexp(t, `^[0-9a-f]{8}$`, Hash("a"))
	assert.Equal(t, Hash("a", "b"), Hash("a", "b"))
	assert.NotEqual(t, Hash("a", "b"), Hash("ab"))
	assert.NotEqual(t, Hash("a", "b"), Hash("a", "b", ""))
	assert.NotEqual(t, Hash("ab", "c"), Hash("a", "bc"))
}

// TestHashNeverChanges: objects in clusters are named by it.
func TestHashNeverChanges(t *testing.T) {
	assert.Equal(t, "f178d58b", Hash("edge+hub"))
}

func FuzzLabelValuesAreLegal(f *testing.F) {
	f.Add("store.v1.prod")
	f.Add(strings.Repeat("a", 64))
	f.Add("-a")
	f.Fuzz(func(t *testing.T, text string) {
		value := labelValue(text)
		assert.True(t, isLabelValue(value), value)
		assert.Equal(t, value, labelValue(value))
		if isLabelValue(text) {
			assert.Equal(t, text, value)
		}
	})
}

func TestLabelsOfAnAppsObjects(t *testing.T) {
	g := Group{Installation: "k7wq2m9x", Project: Project{Name: "shop"}, CompositeApp: "store", Version: "v1", Name: "prod", LogicalCloud: "eu"}
	assert.Equal(t, map[string]string{
		"app.kubernetes.io/managed-by":         "signpost",
		"signpost.dev/installation":            "k7wq2m9x",
		"signpost.dev/project":                 "shop",
		"signpost.dev/app":                     "web",
		"signpost.dev/logical-cloud":           "eu",
		"signpost.dev/deployment-intent-group": "store.v1.prod",
	}, g.Labels("web"))
	g.CompositeApp = strings.Repeat("s", 63)
	assert.Equal(t, strings.Repeat("s", 54)+"-"+Hash(g.CompositeApp+".v1.prod"), g.Labels("web")["signpost.dev/deployment-intent-group"])
}

func TestLabelFilterIsInTheOrderOfTheLabels(t *testing.T) {
	r := Record{Installation: "k7wq2m9x", Project: Project{Name: "shop"}, Name: "lab"}
	assert.Equal(t, "signpost.dev/installation=k7wq2m9x,signpost.dev/project=shop,signpost.dev/record=lab,signpost.dev/scope=public", r.LabelFilter(intent.Public))
}

func TestOwnerIDsAreShortAndPlain(t *testing.T) {
	assert.Equal(t, "sp-k7wq2m9x-9f3c2a1b", OwnerID("k7wq2m9xhdr4", "9F3C2A1Be4d0"))
	assert.Equal(t, "sp-k-9", OwnerID("k", "9"))
	assert.Equal(t, "sp-k7wq2m9x-9f3c2a1b-"+Hash("edge+hub"), ClusterOwnerID("k7wq2m9xhdr4", "9F3C2A1Be4d0", "edge+hub"))
}
