package endpoints

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

type input struct {
	Group   plan.Group
	Binding plan.Binding
	Choice  address.Choice
}

func stories(t *testing.T) []story.Story[input] {
	t.Helper()
	all, err := story.All[input]("testdata")
	require.NoError(t, err)
	return all
}

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

// tell writes what is rendered, nothing where there is no object.
func tell(t *testing.T, in input) string {
	t.Helper()
	object, some, err := Render(in.Group, in.Binding, in.Choice)
	require.NoError(t, err)
	if !some {
		assert.Equal(t, bundle.Object{}, object)
		return ""
	}
	assert.Equal(t, bundle.ID{
		Cluster: in.Binding.Cluster, Group: APIGroup, Kind: Kind, Namespace: in.Group.Project.Namespace, Name: Name(in.Group, in.Binding),
	}, object.ID)
	text, err := story.Objects([]bundle.Object{object})
	require.NoError(t, err)
	return text
}
