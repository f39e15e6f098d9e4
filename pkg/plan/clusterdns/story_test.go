package clusterdns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestStories(t *testing.T) {
	story.Check(t, func(t *testing.T, g plan.Group) string { return story.Objects(t, render(t, g)) })
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

func stories(t *testing.T) []story.Story[plan.Group] { return story.All[plan.Group](t, "testdata") }

// load gives the input of one story, for the caller to change.
func load(t *testing.T, name string) plan.Group { return story.Input[plan.Group](t, name) }
