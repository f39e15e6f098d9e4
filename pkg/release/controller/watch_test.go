package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestOwnersAreSteppedWhenWhatTheyAskedAboutChanges: their Services, and what
// their placements make of the nodes.
func TestOwnersAreSteppedWhenWhatTheyAskedAboutChanges(t *testing.T) {
	t.Parallel()
	const group, cloud intent.Path = "projects/shop/composite-apps/web/v1/deployment-intent-groups/prod", "projects/shop/logical-clouds/eu"
	provider := appcontext.ProviderOwner("projects/shop/dns-provider-records/lab", "public", "edge+hub")
	owners := newInterest()
	for _, p := range []appcontext.Pointer{
		{Owner: appcontext.Owner(group), Services: map[string][]string{"edge+hub": {"shop/web"}}},
		{Owner: appcontext.Owner(cloud), Placements: map[string][]placement.Placement{"edge+hub": {{}}, "edge+paris": {}}},
		{Owner: provider, Services: map[string][]string{"edge+hub": {"shop/web"}}},
	} {
		owners.take(p)
	}
	service := func(cluster, name string) observed.Change {
		return observed.Change{Services: []address.Service{{Cluster: cluster, Namespace: "shop", Name: name}}, Clusters: []string{cluster}}
	}
	for _, c := range []struct {
		what   string
		change observed.Change
		want   []work
	}{
		{"a Service of theirs", service("edge+hub", "web"), []work{{group, "shop/web"}}},
		{"another Service", service("edge+hub", "api"), nil},
		{"another cluster's", service("edge+paris", "web"), nil},
		{"a verdict", observed.Change{Placements: []string{"edge+hub"}}, []work{{cloud, ""}}},
		{"a verdict on a cluster that nothing is placed on", observed.Change{Placements: []string{"edge+paris", "edge+berlin"}}, nil},
		{"whether the cluster can be reached", observed.Change{Reached: []string{"edge+hub"}}, []work{{group, ""}}},
		{"whether another cluster can be reached", observed.Change{Reached: []string{"edge+paris"}}, nil},
		{"anything else of the cluster", observed.Change{Clusters: []string{"edge+hub"}}, nil},
	} {
		assert.Equal(t, c.want, owners.in(c.change), c.what)
	}
}

// TestInterestFollowsThePointers: what a pointer no longer names matters no more.
func TestInterestFollowsThePointers(t *testing.T) {
	t.Parallel()
	const group appcontext.Owner = "projects/shop/composite-apps/web/v1/deployment-intent-groups/prod"
	owners := newInterest()
	owners.take(appcontext.Pointer{Owner: group, Services: map[string][]string{"edge+hub": {"shop/web", "shop/api"}}})
	owners.take(appcontext.Pointer{Owner: group, Services: map[string][]string{"edge+hub": {"shop/api"}}})
	web := address.Service{Cluster: "edge+hub", Namespace: "shop", Name: "web"}
	api := address.Service{Cluster: "edge+hub", Namespace: "shop", Name: "api"}
	both := observed.Change{Services: []address.Service{web, api, api}}
	assert.Equal(t, []work{{intent.Path(group), "shop/api"}}, owners.in(both), "once")
	owners.take(appcontext.Pointer{Owner: group})
	assert.Empty(t, owners.in(both))
	assert.Empty(t, owners.services)
	assert.Empty(t, owners.sources)
}
