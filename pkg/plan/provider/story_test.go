package provider

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestStories(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			got := tell(t, s.Input)
			want, err := s.Settle(got)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

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
	text, err := story.Objects(objects)
	require.NoError(t, err)
	return text
}

func stories(t *testing.T) []story.Story[plan.Provider] {
	t.Helper()
	all, err := story.All[plan.Provider]("testdata")
	require.NoError(t, err)
	return all
}

// load gives the input of one story, for the caller to change.
func load(t *testing.T, name string) plan.Provider {
	t.Helper()
	s, err := story.Read[plan.Provider](filepath.Join("testdata", name+".txtar"))
	require.NoError(t, err)
	return s.Input
}
