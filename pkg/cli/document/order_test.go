package document

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Each line can be applied after those above it.
const applicable = `
projects/shop
cluster-providers/edge
cluster-providers/edge/clusters/hub
projects/shop/logical-clouds/eu
projects/shop/dns-update-records/lab
projects/shop/logical-clouds/eu/cluster-references/hub
projects/shop/composite-apps/store/v1
projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list
cluster-providers/edge/clusters/hub/kv-pairs/dns-update-record-list
projects/shop/logical-clouds/eu/dns-cr-intents/resolvers
projects/shop/composite-apps/store/v1/deployment-intent-groups/prod
projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front
projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/dns-intents/www
projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/pod-dns-intents/web`

func documentsOf(paths []string) []Document {
	var documents []Document
	for i, path := range paths {
		documents = append(documents, Document{Number: i + 1, Path: intent.Path(path)})
	}
	return documents
}

func TestParentsAndReferencesComeFirst(t *testing.T) {
	t.Parallel()
	paths := strings.Fields(applicable)
	sorted := documentsOf(paths)
	ranked := func(documents []Document) []int {
		var ranks []int
		for _, d := range documents {
			kind, known := kindOf(intent.Path(d.Path.Collection()))
			require.True(t, known, string(d.Path))
			ranks = append(ranks, kind.Rank)
		}
		return ranks
	}
	want := ranked(sorted)
	require.True(t, slices.IsSorted(want), "the table of this test is in order")
	shuffle := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		shuffle.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		shuffled := documentsOf(paths)
		Order(shuffled)
		require.Equal(t, want, ranked(shuffled))
	}
}

func TestDocumentsOfOneRankKeepTheirOrder(t *testing.T) {
	t.Parallel()
	documents := documentsOf([]string{"projects/b", "cluster-providers/z/clusters/c", "projects/a", "cluster-providers/z"})
	Order(documents)
	var numbers []int
	for _, d := range documents {
		numbers = append(numbers, d.Number)
	}
	require.Equal(t, []int{1, 3, 4, 2}, numbers)
}

func TestEveryDocumentOfTheAPIHasAKind(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Load()
	require.NoError(t, err)
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for path, item := range doc.Paths.Map() {
		if item.Put == nil || !strings.HasSuffix(path, "}") {
			continue // a setting of the installation is no document of a collection
		}
		document := intent.Path(parameter.ReplaceAllString(strings.TrimPrefix(path, "/v2/"), "x"))
		_, known := kindOf(intent.Path(document.Collection()))
		require.True(t, known, path)
	}
}
