package nameindex

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	berlin = "edge+berlin"
	oslo   = "edge+oslo"
)

// service has a cluster be seen with Service shop/web, or without it.
func (w *world) service(cluster string, o address.Observation) {
	w.Helper()
	o.Changed = time.Now()
	require.NoError(w, w.writer(cluster).SetService(w.Context(), "shop", "web", o))
}

func offering(kind address.Kind, target string) address.Observation {
	return address.Observation{Found: true, Candidates: []address.Candidate{{Target: target, Kind: kind}}}
}

// TestANameWithoutAddressSaysWhatIsMissing in each of its clusters and what to do, as its own status would.
func TestANameWithoutAddressSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := groupOf(nameOwner("shop", "www.example"), "lab", []string{berlin, oslo}, "www.example")
		w.put(g, deployed())
		require.Equal(t, general, w.reasonOf(), "nobody has looked yet (I11)")
		w.service(berlin, address.Observation{})
		require.Equal(t, general, w.reasonOf(), "oslo may have an address")
		w.service(oslo, address.Observation{})
		create := ": create it there, or correct the Service or the clusters of the name"
		require.Equal(t, "there is no Service shop/web on edge/berlin, edge/oslo"+create, w.reasonOf())

		w.service(oslo, address.Observation{Found: true})
		give := ": give it a load balancer or external IPs"
		require.Equal(t, "there is no Service shop/web on edge/berlin"+create+"; Service shop/web on edge/oslo has no address yet"+give, w.reasonOf())
		w.service(berlin, offering(address.ClusterIP, "10.0.0.1"))
		require.Equal(t, "Service shop/web on edge/oslo has no address yet"+give+"; Service shop/web on edge/berlin has only addresses inside its cluster"+give, w.reasonOf())

		w.service(berlin, offering(address.LoadBalancer, "203.0.113.10"))
		require.Equal(t, general, w.reasonOf(), "its DNSEndpoint is on the way")
		drain := deployed()
		drain.Drained = []string{berlin}
		w.put(g, drain)
		require.Equal(t, "Service shop/web on edge/oslo has no address yet"+give+"; edge/berlin is drained: undrain it, or give the name another cluster", w.reasonOf())
		w.service(oslo, offering(address.LoadBalancer, "203.0.113.11"))
		drain.Drained = []string{berlin, oslo}
		w.put(g, drain)
		require.Equal(t, "edge/berlin, edge/oslo are drained: undrain one of them, or give the name another cluster", w.reasonOf())

		w.service(oslo, address.Observation{Found: true, Unseen: map[address.Kind]string{address.Gateway: "HTTPRoutes may not be listed and watched"}})
		drain.Drained = []string{berlin}
		w.put(g, drain)
		require.Equal(t, general, w.reasonOf(), "nobody could look for all of its addresses")
		w.service(oslo, address.Observation{Found: true, Unseen: map[address.Kind]string{address.Gateway: address.NotServed + "HTTPRoutes"}})
		require.Contains(t, w.reasonOf(), "Service shop/web on edge/oslo has no address yet")
		drain.Foreign = []string{oslo}
		w.put(g, drain)
		require.Equal(t, general, w.reasonOf(), "nothing of another project's Service is told")
		w.service(oslo, offering(address.LoadBalancer, "203.0.113.11"))

		w.put(g, deployed())
		require.Equal(t, general, w.reasonOf())
		require.Empty(t, w.index.tables.lacks, "a Service with an address takes no memory")
		w.service(berlin, address.Observation{})
		w.service(oslo, address.Observation{})
		w.apply(g, 1, ledger.Applied)
		w.sync(g, 1, "Matches")
		require.Empty(t, w.reasonOf(), "the name is retained, published and answered")
	})
}

// TestANameWithoutAddressSaysWhichClustersAreLostAndWhichAddressesArePrivate, as its page does.
func TestANameWithoutAddressSaysWhichClustersAreLostAndWhichAddressesArePrivate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := groupOf(nameOwner("shop", "www.example"), "lab", []string{berlin, oslo}, "www.example")
		w.put(g, deployed())
		w.service(oslo, offering(address.LoadBalancer, "10.0.0.1"))
		require.Equal(t, general, w.reasonOf(), "berlin may have an address")
		require.NoError(t, w.writer(berlin).SetReachability(t.Context(), observed.Reachability{Message: "connection refused"}))
		private := "Service shop/web on edge/oslo has only private addresses, which a public name may have only if its provider has allowPrivate"
		lost := "edge/berlin cannot be reached: connection refused; whether Service shop/web has an address there is not known"
		require.Equal(t, private+"; "+lost, w.reasonOf())
		w.service(oslo, offering(address.LoadBalancer, "203.0.113.10"))
		require.Equal(t, general, w.reasonOf(), "oslo has an address")
		w.service(oslo, address.Observation{Found: true, Candidates: []address.Candidate{{Target: "10.0.0.1", Kind: address.LoadBalancer}, {Target: "lb.example", Kind: address.LoadBalancer}}})
		require.Equal(t, general, w.reasonOf(), "oslo has a host name")
		w.service(oslo, address.Observation{})
		require.Contains(t, w.reasonOf(), "there is no Service shop/web on edge/oslo")
		require.Contains(t, w.reasonOf(), lost)

		g.Bindings[0].Scope = intent.ClusterScope
		w.put(g, deployed())
		w.service(oslo, offering(address.LoadBalancer, "10.0.0.1"))
		require.Equal(t, general, w.reasonOf(), "it is a name inside clusters")
		require.NoError(t, w.writer(berlin).SetReachability(t.Context(), observed.Reachability{Reachable: true}))
		g.Bindings[0].Scope, g.Bindings[0].Sources = intent.Public, []string{oslo}
		w.put(g, deployed())
		require.Equal(t, private, w.reasonOf())
		w.apply(g, 1, ledger.Applied)
		require.Equal(t, "external-dns cannot be observed on edge/hub", w.reasonOf(), "its provider has allowPrivate")
	})
}

const general = "it has no address that may be published, or its DNSEndpoint is not in edge/hub yet"

// TestOnlyItsOwnServiceExplainsAName: not one of another scope's rules, and none if a document gives the address.
func TestOnlyItsOwnServiceExplainsAName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.service(berlin, offering(address.ClusterIP, "10.0.0.1"))
		w.run() // the index is filled with what was seen before
		drain := deployed()
		drain.Drained = []string{berlin}
		change := func(is state.Lifecycle, change func(*plan.Binding)) string {
			g := groupOf(nameOwner("shop", "www.example"), "lab", []string{berlin}, "www.example")
			change(&g.Bindings[0])
			w.put(g, is)
			return w.reasonOf()
		}
		require.Contains(t, change(deployed(), func(*plan.Binding) {}), "only addresses inside its cluster")
		require.Equal(t, general, change(drain, func(b *plan.Binding) { b.Scope = intent.ClusterScope }), "clients in the cluster may have the address, and drains do not concern them")
		w.service(berlin, address.Observation{})
		require.Contains(t, change(deployed(), func(b *plan.Binding) { b.Scope = intent.ClusterScope }), "there is no Service")
		require.Equal(t, general, change(deployed(), func(b *plan.Binding) { b.Service = "api" }))
		require.Equal(t, general, change(deployed(), func(b *plan.Binding) { b.Hosts[0].Targets = []string{"203.0.113.9"} }))
		moving := deployed()
		moving.Settled, moving.Wanted = false, intent.Update
		require.Equal(t, "its release is on the way to edge/hub", change(moving, func(*plan.Binding) {}))

		require.Contains(t, change(deployed(), func(*plan.Binding) {}), "there is no Service")
		_, _, err := w.fake.Txn(t.Context(), nil, observed.Forget(berlin))
		require.NoError(t, err)
		require.Equal(t, general, w.reasonOf(), "the cluster is observed no more")
	})
}

// TestANameWithoutAddressInADirectorySaysWhatIsMissing, also while its cluster is drained: to undrain it would not help.
func TestANameWithoutAddressInADirectorySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		drain := deployed()
		drain.Drained = []string{berlin}
		reason := func(is state.Lifecycle, manifests ...json.RawMessage) string {
			g := groupOf(prod, "lab", []string{berlin}, "www.example")
			g.Clusters = []plan.Cluster{{Name: berlin, Directory: "berlin"}}
			g.Bindings[0].App, g.Apps = "web", []plan.App{{Name: "web", Manifests: manifests}}
			w.put(g, is)
			return w.reasonOf()
		}
		service := func(spec string) json.RawMessage {
			return json.RawMessage(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"},"spec":` + spec + `}`)
		}
		pending, ready := service(`{"type":"LoadBalancer"}`), service(`{"type":"LoadBalancer","loadBalancerIP":"203.0.113.10"}`)
		require.Contains(t, reason(deployed()), "there is no Service shop/web on edge/berlin")
		require.Contains(t, reason(drain), "there is no Service shop/web on edge/berlin")
		require.Contains(t, reason(deployed(), pending), "Service shop/web on edge/berlin has no address yet")
		require.Contains(t, reason(drain, pending), "Service shop/web on edge/berlin has no address yet")
		require.Equal(t, "edge/berlin is drained: undrain it, or give the name another cluster", reason(drain, ready))
		require.Empty(t, w.index.tables.owners[prod].written)
	})
}

// TestAHostWithoutAddressIsExplainedBesideOthers of its DNSEndpoint, which is there for them.
func TestAHostWithoutAddressIsExplainedBesideOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := groupOf(prod, "lab", []string{berlin, oslo}, "www.example")
		w.apply(g, 1, ledger.Applied)
		w.sync(g, 1, "Matches")
		g.Bindings[0].Hosts = append(g.Bindings[0].Hosts, plan.Host{Name: "oslo.example", Sources: []string{oslo}})
		w.put(g, deployed())
		w.service(berlin, offering(address.LoadBalancer, "203.0.113.10"))
		synctest.Wait()
		reasons := func() (out []string) {
			synctest.Wait()
			page, err := w.index.FindNames(intent.NameQuery{Limit: 10, Sees: seesOnly("shop")})
			require.NoError(t, err)
			for _, n := range page.Items {
				out = append(out, n.Name+": "+n.Reason)
			}
			return out
		}
		require.Equal(t, []string{"oslo.example: " + noAddress, "www.example: "}, reasons())
		w.service(oslo, address.Observation{})
		require.Equal(t, []string{"oslo.example: there is no Service shop/web on edge/oslo: create it there, or correct the Service or the clusters of the name", "www.example: "}, reasons())
	})
}

// TestAHostNameOfSeveralOwnersCountsOnce, on each page, in whichever order.
func TestAHostNameOfSeveralOwnersCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		w.published(nameOwner("shop", "www.example"), "lab", "www.example")
		w.put(groupOf(prod, "lab", nil, "www.example", "api.example"), deployed())
		for _, worst := range []bool{true, false} {
			synctest.Wait()
			page, err := w.index.FindNames(intent.NameQuery{Limit: 1, Worst: worst, Sees: seesOnly("shop")})
			require.NoError(t, err)
			require.Equal(t, []int{3, 2}, []int{page.Total, page.Hosts})
		}
		w.put(groupOf(nameOwner("shop", "api.example"), "lab", []string{berlin}, "api.example"), deployed())
		synctest.Wait()
		fleet, err := w.index.Census(intent.FleetQuery{Sees: seesOnly("shop"), Limit: 10})
		require.NoError(t, err)
		require.Equal(t, intent.HostCounts{Total: 2, Unpublished: 1, Unverified: 1}, fleet.Hosts, "two owners give each; nobody publishes api.example")
		counted := map[string]intent.HostCounts{}
		for _, i := range fleet.Items {
			counted[i.Kind+" "+i.Cluster] = i.Hosts
		}
		require.Equal(t, intent.HostCounts{Total: 2, Unpublished: 1, Unverified: 1}, counted["externalDNS edge+hub"])
		require.Equal(t, intent.HostCounts{Total: 2, Unpublished: 1, Unverified: 1}, counted["cluster "+berlin])
	})
}
