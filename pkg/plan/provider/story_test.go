package provider

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestStories(t *testing.T) { story.Check(t, tell) }

// tell writes what is rendered, or why it cannot be.
func tell(t *testing.T, p plan.Provider) string {
	t.Helper()
	objects, fields, err := Render(p)
	require.NoError(t, err)
	if len(fields) > 0 {
		require.Empty(t, objects)
		text, err := yaml.Marshal(fields)
		require.NoError(t, err)
		return string(text)
	}
	return story.Objects(t, objects)
}

func stories(t *testing.T) []story.Story[plan.Provider] {
	return story.All[plan.Provider](t, "testdata")
}

// load gives the input of one story, for the caller to change.
func load(t *testing.T, name string) plan.Provider { return story.Input[plan.Provider](t, name) }
