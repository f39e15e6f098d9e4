package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

var clusterScopeOnBerlin = state.Use{Record: lab, Scope: intent.ClusterScope, Cluster: berlin}

func TestTheHomeOfARecord(t *testing.T) {
	t.Parallel()
	on := func(cluster string) string { return fmt.Sprintf(`{"clusterProvider":"edge","cluster":%q}`, cluster) }
	for _, c := range []struct {
		reason              string
		record, cloud       string // further fields
		server              *intent.ClusterRef
		onlyMember          bool
		home                string
		refused             []string
		differentController string
	}{
		{reason: "the record's deployOn comes first", record: `,"deployOn":` + on("paris"), cloud: `,"controllerCluster":` + on("hub"), home: paris},
		{reason: "then the logical cloud's controllerCluster", cloud: `,"controllerCluster":` + on("hub"), server: &intent.ClusterRef{ClusterProvider: "edge", Cluster: "paris"}, home: hub},
		{reason: "then the server's", server: &intent.ClusterRef{ClusterProvider: "edge", Cluster: "paris"}, home: paris},
		{reason: "then the only cluster", onlyMember: true, home: berlin},
		{reason: "else nobody knows", refused: []string{"deployOn", "controllerCluster", "--controller-cluster"}},
		{reason: "a home has to exist", record: `,"deployOn":` + on("rome"), refused: []string{"cluster edge+rome does not exist"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.options.ControllerCluster = c.server
			w.restartOn(w.fake)
			w.put(lab, record("lab.example", c.record))
			w.put(eu, `{"namespace":"shop"`+c.cloud+`}`)
			if c.onlyMember {
				require.NoError(t, w.delete(eu.Child("cluster-references", "paris")))
			}
			if c.refused != nil {
				w.refuses(intent.Instantiate, prod, c.refused...)
				return
			}
			w.do(intent.Instantiate, prod)
			w.settle(prod)
			require.Equal(t, []state.Use{{Record: lab, Scope: intent.Public, Cluster: c.home}}, w.snapshot(prod).Lifecycle.Uses)
			snap, err := w.service.RecordSnapshot(t.Context(), lab)
			require.NoError(t, err)
			require.Equal(t, c.home, snap.Lifecycle.Record.Home.String())
		})
	}
}

// elsewhere is a second logical cloud of both edges, with a group of it.
func elsewhere(w *world, controller string) {
	w.put("projects/shop/logical-clouds/us", `{"namespace":"shop"`+controller+`}`)
	w.member("projects/shop/logical-clouds/us", "berlin")
	w.member("projects/shop/logical-clouds/us", "paris")
	w.associate("projects/shop/logical-clouds/us", "lab")
	w.group(test, "api", "api.lab.example")
	w.put(test, `{"logicalCloud":"us","apps":[{"name":"api"}]}`)
}

func TestAPinnedHomeHoldsForOtherLogicalClouds(t *testing.T) {
	t.Parallel()
	w := running(t)
	elsewhere(w, ``)
	w.do(intent.Instantiate, test)
	w.settle(test)
	require.Equal(t, []state.Use{labOnHub}, w.snapshot(test).Lifecycle.Uses)
}

func TestALogicalCloudThatImpliesAnotherHomeIsRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	elsewhere(w, `,"controllerCluster":{"clusterProvider":"edge","cluster":"paris"}`)
	w.refuses(intent.Instantiate, test, `external-dns of provider "lab" runs on edge+hub`, "but logical cloud \"us\" has another controllerCluster, edge+paris", "logical-clouds/us#/spec/controllerCluster")
	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, test)
	w.settle(test)
	require.Equal(t, paris, w.snapshot(test).Lifecycle.Uses[0].Cluster, "the home is free again")
}

func TestAnEditedDeployOnMovesNothing(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
	w.put(eu, `{"namespace":"shop"}`)
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Equal(t, []state.Use{labOnHub}, w.snapshot(prod).Lifecycle.Uses)
}

func TestClusterScopeStaysOnTheCluster(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu)
	w.associate("cluster-providers/edge/clusters/berlin", "shop/lab", "other/foreign", "nobodys")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{"edge+berlin lab/cluster: www.lab.example A 203.0.113.10"}, w.published(prod))
	require.Equal(t, []state.Use{clusterScopeOnBerlin}, w.snapshot(prod).Lifecycle.Uses)
	require.Contains(t, w.objects(providerOwner(clusterScopeOnBerlin)), "edge+berlin Deployment external-dns-lab-cluster")
	plan := w.plan(prod, intent.Update)
	require.Contains(t, plan.Warnings, `cluster edge+berlin is associated with provider "nobodys", which project "shop" does not have`)
	require.NotContains(t, fmt.Sprint(plan.Warnings), "foreign", "another project's association is none of ours")
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	require.NotEqual(t, snap.Lifecycle.Record.OwnerID, snap.Providers[0].OwnerID, "each cluster scope has an owner id of its own")
}

func TestAnIntentsScopeChoosesAmongAssociations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope string
		want  []string
	}{
		{"public", []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}},
		{"cluster", []string{"edge+berlin lab/cluster: www.lab.example A 203.0.113.10"}},
		{"", []string{"edge+berlin lab/cluster: www.lab.example A 203.0.113.10", "edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}},
	} {
		w := newShop(t)
		w.associate("cluster-providers/edge/clusters/berlin", "lab")
		w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"scope":%q}`, c.scope))
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		require.Equal(t, c.want, w.published(prod), c.scope)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const both = `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`
	for _, c := range []struct {
		reason string
		given  func(w *world)
		says   []string
	}{
		{"a name in both scopes of one record on one cluster", func(w *world) {
			w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"berlin"}`))
			w.associate("cluster-providers/edge/clusters/berlin", "lab")
		}, []string{"both scopes", "www.lab.example", "edge+berlin", string(lab)}},
		{"an unknown record in the association", func(w *world) { w.associate(eu, "lab", "typo") },
			[]string{`names provider "typo"`, "logical-clouds/eu#/kv-pairs/dns-update-record-list"}},
		{"a name that no record covers", func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.other.example"]}`)
		}, []string{"dns-intents/www#/spec/hostnames/1", "www.other.example"}},
		{"records that are not associated", func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"records":["corp"]}`)
		}, []string{"among the intent's providers corp"}},
		{"an app that the group lacks", func(w *world) {
			w.put(www(prod), `{"app":"db","serviceName":"db","hostnames":["www.lab.example"]}`)
		}, []string{`no app "db"`}},
		{"a cluster that is inventory only", func(w *world) { w.put("cluster-providers/edge/clusters/berlin", `{}`) },
			[]string{"inventory only", "clusters/berlin#/spec/kubeconfig"}},
		{"a cluster that does not allow the project", func(w *world) {
			w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","projects":["other"]}`)
		}, []string{`does not allow project "shop"`, "clusters/paris#/spec/projects"}},
		{"a home that does not allow the project", func(w *world) {
			w.put("cluster-providers/edge/clusters/hub", `{"kubeconfigRef":"sealed","projects":["other"]}`)
		}, []string{"clusters/hub#/spec/projects"}},
		{"a home that is for addresses", func(w *world) {
			w.put("cluster-providers/edge/clusters/hub", `{"kubeconfigRef":"sealed","uses":["addresses"]}`)
		}, []string{"clusters/hub#/spec/uses", `cluster edge+hub is not for home, which external-dns of provider "lab" needs`, `add "home" to its uses, and apply deploy/target-cluster/home.yaml there`}},
		{"addresses of a cluster that is a home", func(w *world) {
			w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","uses":["home","apps","dns"]}`)
		}, []string{"clusters/berlin#/spec/uses", `is not for addresses, which service "shop/web" needs`, "deploy/target-cluster/addresses.yaml"}},
		{"manifests on a cluster that is for addresses", func(w *world) {
			w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","uses":["addresses"]}`)
			w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]}]}`, eu)
		}, []string{"clusters/paris#/spec/uses", `is not for apps, which app "web" needs`, "deploy/target-cluster/apps.yaml"}},
		{"an app on a cluster that is not a reference", func(w *world) {
			w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"hub"}]}]}`, eu)
		}, []string{"no cluster reference", "edge+hub"}},
		{"two namespaces for one service", func(w *world) {
			w.put(www(prod)+"2", `{"app":"web","serviceName":"web","namespace":"other","hostnames":["two.lab.example"]}`)
		}, []string{"two namespaces", "other", "shop"}},
		{"two intents that differ on a name", func(w *world) {
			w.put(www(prod)+"2", `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":9}`)
		}, []string{"another ttl"}},
		{"an owner id of the user's in two deployments of one group", func(w *world) {
			w.put(lab, ownerID("lab.example", "mine"))
			w.associate(eu)
			w.associate("cluster-providers/edge/clusters/berlin", "lab")
			w.associate("cluster-providers/edge/clusters/paris", "lab")
		}, []string{"dns-update-records/lab#/spec/external-dns-parameters/txt-owner-id", "edge+berlin", "edge+paris"}},
		{"apps that hold one object with different contents", func(w *world) {
			config := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`
			w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[`+config+`]},{"name":"api","manifests":[`+config+`]}]}`, eu)
		}, []string{`apps "api" and "web" both hold`}},
		{"a parameter that cannot work", func(w *world) {
			w.put(lab, `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"sync","registry":"noop"}}`)
		}, []string{"dns-update-records/lab#"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.put(www(prod), both)
			c.given(w)
			w.refuses(intent.Instantiate, prod, c.says...)
			require.Equal(t, intent.Created, w.state(prod))
		})
	}
}

func ownerID(domain, owner string) string {
	return fmt.Sprintf(`{"provider":"coredns","external-dns-parameters":{"domain-filter":[%q],"policy":"sync","txt-owner-id":%q}}`, domain, owner)
}

// TestAnOwnerIDBelongsToOneDeployment: two would take each other's names for
// their own, whichever groups and records they belong to.
func TestAnOwnerIDBelongsToOneDeployment(t *testing.T) {
	t.Parallel()
	t.Run("of one record", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.put(lab, ownerID("lab.example", "mine"))
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.associate("cluster-providers/edge/clusters/berlin", "lab")
		w.group(test, "api", "api.lab.example")
		w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["api.lab.example"],"scope":"cluster"}`)
		w.refuses(intent.Instantiate, test, "txt-owner-id", "edge+berlin", "edge+hub")
		w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["api.lab.example"],"scope":"public"}`)
		w.do(intent.Instantiate, test)
	})
	t.Run("of two records", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.put(lab, ownerID("lab.example", "mine"))
		w.put(corp, ownerID("corp.example", "mine"))
		w.associate(eu, "lab", "corp")
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.group(test, "api", "api.corp.example")
		w.refuses(intent.Instantiate, test, "dns-update-records/corp#/spec/external-dns-parameters/txt-owner-id", string(lab))
	})
	t.Run("of a record that gets a generated one", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.put(lab, ownerID("lab.example", "sp-k7wq2m9x-0a1b2c3d"))
		w.refuses(intent.Instantiate, prod, "dns-update-records/lab#/spec/external-dns-parameters/txt-owner-id", "the owner id \"sp-k7wq2m9x-0a1b2c3d\" has the form of Signpost's generated owner ids")
	})
}

// TestARefusedUpdateChangesNothing: also of a group that is deployed.
func TestARefusedUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.elsewhere.example"]}`)
	w.refuses(intent.Update, prod, "www.elsewhere.example")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, intent.Terminated, w.state(prod), "whatever the intents say now")
}

// TestACredentialByValueIsRefusedWhereItWouldBePlain: the files of a directory
// are for everybody to read (I9).
func TestACredentialByValueIsRefusedWhereItWouldBePlain(t *testing.T) {
	t.Parallel()
	const inline, byReference = `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"sealed"}]`, `,"credentials":[{"environment":"ETCD_PASSWORD","secretRef":{"name":"etcd","key":"password"}}]`
	says := []string{
		string(lab) + "#/spec/credentials/0", "environment ETCD_PASSWORD has a value, which would be readable in the files of edge+hub, a directory",
		"give it by secretRef to a Secret of namespace shop-dns",
	}
	w := newShop(t)
	w.put("secrets/sealed", `{}`)
	w.put("cluster-providers/edge/clusters/hub", `{"directory":"hub"}`)
	w.put(lab, record("lab.example", inline))
	w.refuses(intent.Instantiate, prod, says...)

	w.put(lab, record("lab.example", byReference))
	w.do(intent.Instantiate, prod)
	w.settle(prod)

	w.put(lab, record("lab.example", inline))
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	_, refused := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.Equal(t, intent.Conflict, intent.CodeOf(refused))
	for _, text := range says {
		require.Contains(t, fmt.Sprint(plan.Errors), text)
		require.ErrorContains(t, refused, text)
	}
}

func TestARecordWithACredentialByValueDoesNotMoveToADirectory(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("secrets/sealed", `{}`)
	w.put("cluster-providers/edge/clusters/paris", `{"directory":"paris"}`)
	w.put(lab, record("lab.example", `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"sealed"}]`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(lab, record("lab.example", `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"sealed"}],"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.ErrorContains(t, err, "would be readable in the files of edge+paris")
}
