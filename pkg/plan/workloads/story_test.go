package workloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

func stories(t *testing.T) []story.Story[plan.Group] {
	t.Helper()
	all, err := story.All[plan.Group]("testdata")
	require.NoError(t, err)
	return all
}

func TestStories(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			objects, findings, err := Render(s.Input)
			require.NoError(t, err)
			ordered, err := bundle.Collect(objects)
			require.NoError(t, err)
			got, err := story.Objects(ordered)
			require.NoError(t, err)
			want, err := s.Settle(got + told(findings))
			require.NoError(t, err)
			assert.Equal(t, want, got+told(findings))
		})
	}
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
