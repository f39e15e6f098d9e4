package workloads

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

func stories(t *testing.T) []story.Story[plan.Group] { return story.All[plan.Group](t, "testdata") }

func TestStories(t *testing.T) {
	story.Check(t, func(t *testing.T, g plan.Group) string {
		objects, findings, err := Render(t.Context(), g)
		require.NoError(t, err)
		ordered, err := bundle.Collect(objects)
		require.NoError(t, err)
		return story.Objects(t, ordered) + told(findings)
	})
}

// told are the findings as a story ends with them.
func told(findings []poddns.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		severity := "warning"
		if f.Refused {
			severity = "error"
		}
		fmt.Fprintf(&out, "--- # %s: %s#%s\n%s\n", severity, f.Intent, f.Pointer, f.Detail)
	}
	return out.String()
}

// TestWhatAGroupHasOnItsClustersIsBounded: what is the same there counts once.
func TestWhatAGroupHasOnItsClustersIsBounded(t *testing.T) {
	t.Parallel()
	g := plan.Group{LogicalCloudNamespace: "shop"}
	for _, name := range []string{"a", "b"} {
		manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":%q}}`, name, strings.Repeat("x", 1000))
		g.Apps = append(g.Apps, plan.App{Name: name, Clusters: []string{"edge+a", "edge+b", "edge+c"}, Manifests: []json.RawMessage{json.RawMessage(manifest)}})
	}
	objects, _, err := render(t.Context(), g, 3000)
	require.NoError(t, err)
	require.Len(t, objects, 9)
	_, _, err = render(t.Context(), g, 2000)
	require.ErrorContains(t, err, `app "b": the differences between the clusters`)
}
