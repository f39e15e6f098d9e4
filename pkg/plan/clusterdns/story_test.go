package clusterdns

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestStories(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			got, err := story.Objects(render(t, s.Input))
			require.NoError(t, err)
			want, err := s.Settle(got)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// render gives the objects of all DNS of a logical cloud, placed as it asks.
func render(t *testing.T, g plan.Group) bundle.Bundle {
	t.Helper()
	var all []bundle.Object
	for _, d := range g.DNS {
		objects, err := Render(g, d, Placement(d))
		require.NoError(t, err)
		all = append(all, objects...)
	}
	ordered, err := bundle.Collect(all)
	require.NoError(t, err)
	return ordered
}

func stories(t *testing.T) []story.Story[plan.Group] {
	t.Helper()
	all, err := story.All[plan.Group]("testdata")
	require.NoError(t, err)
	return all
}

// load gives the input of one story, for the caller to change.
func load(t *testing.T, name string) plan.Group {
	t.Helper()
	s, err := story.Read[plan.Group](filepath.Join("testdata", name+".txtar"))
	require.NoError(t, err)
	return s.Input
}
