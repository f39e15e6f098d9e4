package bench

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// group is the path of the deployment intent group that benchmarks plan.
const group = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")

// service is the name of the n-th Service, and of the intent about it.
func service(n int) string { return fmt.Sprintf("web-%05d", n) }

// groupOf is a frozen group with so many names, so many of them for one
// Service.
func groupOf(names, each int) plan.Group {
	g := plan.Group{
		Installation: "0123456789abcdef", Path: group, UID: "0123456789abcdef", Name: "prod",
		Project:      plan.Project{Name: "shop", Namespace: "signpost-shop"},
		CompositeApp: "store", Version: "v1", LogicalCloud: "eu", LogicalCloudNamespace: "shop",
		Apps:     []plan.App{{Name: "web", Namespace: "shop", Clusters: edges()}},
		Clusters: []plan.Cluster{{Name: "edge+berlin"}, {Name: "edge+hub"}, {Name: "edge+paris"}},
	}
	for first := 0; first < names; first += each {
		binding := plan.Binding{
			App: "web", Service: service(first), Namespace: "shop", Record: "lab", Scope: intent.Public,
			Cluster: "edge+hub", Sources: edges(), Prefix: state.KeyPrefix(lab()),
		}
		for n := first; n < min(first+each, names); n++ {
			binding.Hosts = append(binding.Hosts, plan.Host{Name: hostname(n), TTL: 30})
		}
		g.Bindings = append(g.Bindings, binding)
	}
	return g
}

func edges() []string { return []string{"edge+berlin", "edge+paris"} }

func hostname(n int) string { return service(n) + ".lab.example" }

// observation is what both edges offer of each Service.
func observation() *address.Observation {
	return &address.Observation{Found: true, Candidates: []address.Candidate{
		{Target: "198.18.0.1", Field: "status.loadBalancer.ingress[0].ip"},
	}}
}

// shop is a project with a group that has no names yet, by path.
func shop() map[intent.Path]any {
	const (
		project  = intent.Path("projects/shop")
		cloud    = project + "/logical-clouds/eu"
		clusters = "cluster-providers/edge/clusters/"
	)
	berlin, paris := intent.ClusterRef{ClusterProvider: "edge", Cluster: "berlin"}, intent.ClusterRef{ClusterProvider: "edge", Cluster: "paris"}
	live := intent.Cluster{KubeconfigRef: "sealed"}
	return map[intent.Path]any{
		project:                              intent.Project{Namespace: "signpost-shop"},
		clusters + "hub":                     live,
		clusters + "berlin":                  live,
		clusters + "paris":                   live,
		project + "/dns-update-records/lab":  lab(),
		cloud:                                intent.LogicalCloud{Namespace: "shop", ControllerCluster: &intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}},
		cloud + "/cluster-references/berlin": berlin,
		cloud + "/cluster-references/paris":  paris,
		cloud + "/kv-pairs/" + intent.AssociationName: intent.KVPairs{KV: []map[string]json.RawMessage{{"key1": json.RawMessage(`"lab"`)}}},
		group:                                  intent.DeploymentIntentGroup{LogicalCloud: "eu", Apps: []intent.App{{Name: "web"}}},
		group + "/traffic-group-intents/front": intent.TrafficGroup{},
	}
}

// lab is a record of provider coredns.
func lab() intent.Record {
	return intent.Record{
		Provider:    "coredns",
		Parameters:  map[string]any{"coredns-prefix": "/skydns/", "interval": "5s", "policy": "sync", "domain-filter": []any{"lab.example"}},
		Environment: map[string]string{"ETCD_URLS": "http://192.0.2.1:2379"},
	}
}

// write stores resources as they are once admitted.
func write(b testing.TB, documents intent.Store, resources map[intent.Path]any) {
	b.Helper()
	for path, spec := range resources {
		body, err := json.Marshal(intent.Resource[any]{Metadata: intent.Metadata{Name: path.Name()}, Spec: spec})
		require.NoError(b, err)
		_, err = documents.Put(b.Context(), intent.Write{Path: path, Body: body})
		require.NoError(b, err)
	}
}

// observe notes what a Service offers, as the worker of its cluster does.
func observe(b testing.TB, store kv.KV, service address.Service) {
	b.Helper()
	value, err := json.Marshal(observation())
	require.NoError(b, err)
	_, _, err = store.Txn(b.Context(), nil, kv.Put(observed.ServiceKey(service), value))
	require.NoError(b, err)
}
