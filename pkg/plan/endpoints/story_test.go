package endpoints

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

type input struct {
	Group   plan.Group
	Binding plan.Binding
	Offered []struct {
		Type, ID         string
		Targets          []string
		Weight           int64
		Region, Location string
	} // to each host
	Ports  []address.Port
	Rooted bool
}

// choices are those of the hosts: what is offered is chosen for each.
func (in input) choices() []address.Choice {
	var c address.Choice
	for _, set := range in.Offered {
		c.Sets = append(c.Sets, address.Set{Type: set.Type, Targets: set.Targets, ID: set.ID, Weight: set.Weight, Region: set.Region, Location: set.Location})
	}
	c.Ports = in.Ports
	out := slices.Repeat([]address.Choice{c}, len(in.Binding.Hosts))
	for n, host := range in.Binding.Hosts {
		out[n].Sets = slices.Concat(c.Sets, Services(host, c, in.Rooted))
	}
	return out
}

func stories(t *testing.T) []story.Story[input] { return story.All[input](t, "testdata") }

func TestStories(t *testing.T) { story.Check(t, tell) }

// tell writes what is rendered, nothing where there is no object.
func tell(t *testing.T, in input) string {
	t.Helper()
	object, some, err := Render(in.Group, in.Binding, in.choices())
	require.NoError(t, err)
	if !some {
		assert.Equal(t, bundle.Object{}, object)
		return ""
	}
	assert.Equal(t, bundle.ID{
		Cluster: in.Binding.Cluster, Group: bundle.EndpointGroup, Kind: bundle.EndpointKind, Namespace: in.Group.Project.Namespace, Name: Name(in.Group, in.Binding),
	}, object.ID)
	return story.Objects(t, []bundle.Object{object})
}
