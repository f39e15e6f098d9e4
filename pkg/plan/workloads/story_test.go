package workloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

func stories(t *testing.T) []story.Story[plan.Group] { return story.All[plan.Group](t, "testdata") }

func TestStories(t *testing.T) {
	story.Check(t, func(t *testing.T, g plan.Group) string {
		objects, findings, err := Render(g)
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
