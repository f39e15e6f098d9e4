package release

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/placement"
)

// TestOwnersAreSteppedWhenWhatTheyAskedAboutChanges: their Services, and what
// their placements make of the nodes.
func TestOwnersAreSteppedWhenWhatTheyAskedAboutChanges(t *testing.T) {
	const group, cloud intent.Path = "projects/shop/composite-apps/web/v1/deployment-intent-groups/prod", "projects/shop/logical-clouds/eu"
	provider := appcontext.ProviderOwner("projects/shop/dns-provider-records/lab", "public", "edge+hub")
	owners := interest{
		appcontext.Owner(group): {Services: map[string][]string{"edge+hub": {"shop/web"}}},
		appcontext.Owner(cloud): {Placements: map[string][]placement.Placement{"edge+hub": {{}}, "edge+paris": {}}},
		provider:                {Services: map[string][]string{"edge+hub": {"shop/web"}}},
	}
	service := func(cluster, name string) observed.Change {
		return observed.Change{Services: []address.Service{{Cluster: cluster, Namespace: "shop", Name: name}}, Clusters: []string{cluster}}
	}
	for _, c := range []struct {
		what   string
		change observed.Change
		want   []intent.Path
	}{
		{"a Service of theirs", service("edge+hub", "web"), []intent.Path{group}},
		{"another Service", service("edge+hub", "api"), nil},
		{"another cluster's", service("edge+paris", "web"), nil},
		{"a verdict", observed.Change{Placements: []string{"edge+hub"}}, []intent.Path{cloud}},
		{"a verdict on a cluster that nothing is placed on", observed.Change{Placements: []string{"edge+paris", "edge+berlin"}}, nil},
		{"anything else of the cluster", observed.Change{Clusters: []string{"edge+hub"}}, nil},
	} {
		assert.Equal(t, c.want, owners.in(c.change), c.what)
	}
}
