package nameindex

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestAnOwnerWithoutAnAddressDoesNoHarmToAName that others give: what they give decides, in searches and
// in sums. Its own part decides if nobody else gives the name, or its own release is on the way.
func TestAnOwnerWithoutAnAddressDoesNoHarmToAName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const test = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/test")
		w := newWorld(t, true)
		w.run()
		w.put(groupOf(test, "lab", []string{"edge+paris"}, "geo.example"), deployed())
		w.put(groupOf(nameOwner("bakery", "geo.example"), "lab", nil, "geo.example"), deployed())
		const (
			bakery = "geo.example geo.example lab Instantiated Unknown Unknown"
			alone  = "geo.example test lab Instantiated Unknown Unknown"
		)
		require.Equal(t, []string{bakery, alone}, w.find(intent.NameQuery{Published: notTrue}))

		g := w.published(prod, "lab", "geo.example")
		one := intent.NameQuery{Project: "shop"}
		require.Equal(t, []string{"geo.example prod lab Instantiated True True", "geo.example test lab Instantiated True True"}, w.find(one))
		require.Equal(t, []string{"geo.example geo.example lab Instantiated Unknown Unknown"}, w.find(intent.NameQuery{Published: notTrue}), "the name of another project has a server of its own")
		fleet, err := w.index.Census(intent.FleetQuery{Sees: seesOnly("shop"), Limit: 10})
		require.NoError(t, err)
		require.Equal(t, intent.HostCounts{Total: 1}, fleet.Hosts, "one host name, of two owners")

		w.answer(g, "NotThere", "")
		require.Equal(t, []string{"geo.example prod lab Instantiated True False", "geo.example test lab Instantiated True False"}, w.find(one))
		w.answer(g, "Matches", "")
		w.apply(groupOf(test, "lab", nil, "geo.example"), 0, ledger.Failed)
		require.Equal(t, []string{"geo.example test lab Instantiated False Unknown"}, w.find(intent.NameQuery{Project: "shop", Published: notTrue}), "its cluster refuses the address")
		going := deployed()
		going.Settled = false
		w.put(groupOf("projects/shop/composite-apps/store/v1/deployment-intent-groups/next", "lab", nil, "geo.example"), going)
		require.Contains(t, w.find(one), "geo.example next lab Instantiating False Unknown")
	})
}

// TestAPartWithoutAnAddressIsJudgedAsTheOthers of a name, whatever is known of these, and for their reason. That is so for
// a group whose clusters are drained, and for an intent of a group that gives the name by another one.
func TestAPartWithoutAnAddressIsJudgedAsTheOthers(t *testing.T) {
	t.Parallel()
	const test = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/test")
	published := map[string]func(*world, plan.Group){
		"True":    func(*world, plan.Group) {},
		"False":   func(w *world, g plan.Group) { w.apply(g, 2, ledger.Applied) },
		"Unknown": func(w *world, _ plan.Group) { w.reach(observed.Reachability{Message: "no route"}) },
	}
	why := map[string]string{
		"False": "external-dns has not synchronized yet since the DNSEndpoint changed", "Unknown": "edge/hub, the home of external-dns, cannot be reached: no route",
		"False of servers": "has no A record", "Unknown of servers": "does not answer",
	}
	verdicts := map[string]string{"True": "Matches", "False": "NotThere", "Unknown": "Unreachable"}
	for _, p := range slices.Sorted(maps.Keys(published)) {
		for _, v := range slices.Sorted(maps.Keys(verdicts)) {
			for _, another := range []bool{true, false} {
				t.Run(fmt.Sprintf("published %s, verified %s, another group %t", p, v, another), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, true)
						w.run()
						g := w.published(prod, "lab", "geo.example")
						want := []string{"geo.example prod lab Instantiated " + p + " " + v}
						idle := deployed()
						idle.Drained = []string{"edge+paris"}
						if another {
							w.put(groupOf(test, "lab", []string{"edge+paris"}, "geo.example"), idle)
							want = append(want, "geo.example test lab Instantiated "+p+" "+v)
						} else {
							second := g.Bindings[0]
							second.App, second.Service, second.Sources = "api", "api", []string{"edge+paris"}
							g.Bindings = append(g.Bindings, second)
							w.put(g, idle)
						}
						w.answer(g, verdicts[v], why[v+" of servers"])
						published[p](w, g)
						require.Equal(t, want, w.find(intent.NameQuery{}))
						page, err := w.index.FindNames(intent.NameQuery{Limit: 9, Sees: seesOnly("shop")})
						require.NoError(t, err)
						reason := why[p]
						if p == yes || p == unknown && v == no {
							reason = why[v+" of servers"]
						}
						for _, name := range page.Items {
							require.Equal(t, reason, name.Reason, name.Owner)
						}
					})
				})
			}
		}
	}
}

// TestANameOfClusterScopeIsJudgedClusterByCluster: what one cluster answers does not stand for another.
func TestANameOfClusterScopeIsJudgedClusterByCluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const test = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/test")
		w := newWorld(t, true)
		w.run()
		inside := func(owner intent.Path) plan.Group {
			g := groupOf(owner, "lab", []string{hub}, "db.example")
			g.Bindings[0].Scope = intent.ClusterScope
			return g
		}
		both := inside(prod)
		both.Bindings = append(both.Bindings, both.Bindings[0])
		both.Bindings[1].Cluster = "edge+berlin"
		w.put(both, deployed())
		w.apply(both, 1, ledger.Applied)
		w.sync(both, 1, "Matches")
		want := "db.example prod lab Instantiated Unknown Unknown"
		require.Equal(t, []string{want}, w.find(intent.NameQuery{Published: notTrue}), "clients in berlin get nothing")
		w.put(inside(test), deployed())
		require.Equal(t, []string{want, "db.example test lab Instantiated True True"}, w.find(intent.NameQuery{}), "it is only for clients of the hub, who get an answer")
	})
}

// TestAliasesAreFound, also those of aliases.
func TestAliasesAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		fixed := func(host, target string) {
			g := groupOf(nameOwner("shop", host), "lab", nil, host)
			g.Bindings[0].Hosts = []plan.Host{{Name: host, Targets: []string{target}}}
			w.put(g, deployed())
		}
		fixed("docs.example", "www.example")
		fixed("old.example", "docs.example")
		fixed("mail.example", "192.0.2.1")
		fixed("other.example", "elsewhere.example")
		synctest.Wait()
		found, err := w.index.Aliases([]string{"www.example", "192.0.2.1"})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"docs.example": "www.example", "old.example": "docs.example"}, found)
	})
	_, err := New(nil).Aliases([]string{"www.example"})
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
}
