package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// monitor writes what EMCO's monitor says of web on a cluster: its Service has
// these addresses.
func (w *world) monitor(id, cluster string, addresses ...string) {
	w.Helper()
	var ingress []string
	for _, a := range addresses {
		ingress = append(ingress, fmt.Sprintf(`{"ip":%q}`, a))
	}
	w.putKey("/context/"+id+"/app/web/cluster/"+cluster+"/status/", quoted(w, fmt.Sprintf(
		`{"serviceStatuses":[{"metadata":{"name":"web","namespace":"shop"},"status":{"loadBalancer":{"ingress":[%s]}}}]}`, strings.Join(ingress, ","))))
}

// inventoryShop is the shop with an edge that Signpost does not connect to.
func inventoryShop(t testing.TB) *world {
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/paris", `{}`)
	w.appContext(firstContext)
	w.tell(firstContext, "Instantiate", "")
	w.event(firstContext, intent.Instantiate)
	w.settle(prod)
	return w
}

// TestAddressesComeFromEMCOsMonitor where Signpost does not connect to the
// cluster, as they come, change and go; what a worker has once seen there is old.
func TestAddressesComeFromEMCOsMonitor(t *testing.T) {
	t.Parallel()
	w := inventoryShop(t)
	name := func(addresses string) []string {
		return []string{"edge+hub lab/public: www.lab.example A " + addresses}
	}
	require.Equal(t, name("203.0.113.10"), w.published(prod))
	w.monitor(firstContext, paris, "203.0.113.60")
	w.settle(prod)
	require.Equal(t, name("203.0.113.10,203.0.113.60"), w.published(prod))
	w.monitor(firstContext, paris, "203.0.113.61")
	w.monitor(firstContext, berlin, "203.0.113.99")
	w.settle(prod)
	require.Equal(t, name("203.0.113.10,203.0.113.61"), w.published(prod), "a worker's word counts first")
	w.monitor(firstContext, paris)
	w.settle(prod)
	require.Equal(t, name("203.0.113.10"), w.published(prod))

	pointer, err := w.contexts.Current(t.Context(), "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")
	require.NoError(t, err)
	require.Equal(t, map[string][]string{berlin: {"shop/web"}}, pointer.Services, "nobody is to watch where nobody connects to")
}

// TestAddressesOfLaterContextsAreInTheFirst: there EMCO keeps the statuses.
func TestAddressesOfLaterContextsAreInTheFirst(t *testing.T) {
	t.Parallel()
	w := inventoryShop(t)
	w.monitor(firstContext, paris, "203.0.113.60")
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.putKey("/context/2222/statusappctxid/", quoted(t, firstContext))
	w.event(secondContext, intent.Update)
	w.replace(firstContext, secondContext)
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: two.lab.example A 203.0.113.10,203.0.113.60"}, w.published(prod))
	w.monitor(firstContext, paris, "203.0.113.61")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: two.lab.example A 203.0.113.10,203.0.113.61"}, w.published(prod))
}

// TestNamesDoNotShrinkByWhatCannotBeRead (I11): and all else goes on (I7).
func TestNamesDoNotShrinkByWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := inventoryShop(t)
	w.monitor(firstContext, paris, "203.0.113.60")
	w.settle(prod)
	published := w.published(prod)
	w.putKey("/context/1111/app/web/cluster/edge+paris/status/", quoted(t, "<html>"))
	w.settle(prod)
	require.Equal(t, published, w.published(prod))
	snap := w.snapshot(prod)
	require.Equal(t, intent.Instantiated, snap.Lifecycle.State())
	require.Contains(t, snap.AppContext.Why, "what the monitor says of app web on edge+paris cannot be read", "and users are told")
	w.observe(berlin, "shop/web", "203.0.113.10", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.11,203.0.113.60"}, w.published(prod), "other clusters are followed")
	require.NoError(t, w.drain(berlin, true))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.60"}, w.published(prod), "drained ones, too")
	w.undrain(berlin)
	w.monitor(firstContext, paris, "203.0.113.61")
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 [edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.11,203.0.113.61]", w.current())
	require.Empty(t, w.snapshot(prod).AppContext.Why)
}

// TestTheMonitorSpeaksForAClusterThatCannotBeReached: from what it has written
// since a worker last saw the Service.
func TestTheMonitorSpeaksForAClusterThatCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	w.event(firstContext, intent.Instantiate)
	w.monitor(firstContext, paris, "203.0.113.60")
	w.observe(paris, "shop/web", "203.0.113.21")
	reachable := func(is bool) {
		writer, err := w.observed.Writer(t.Context(), paris, fence)
		require.NoError(t, err)
		require.NoError(t, writer.SetReachability(t.Context(), observed.Reachability{Reachable: is, Since: w.clock.Now()}))
		w.settle(prod)
	}
	name := func(address string) []string {
		return []string{"edge+hub lab/public: www.lab.example A 203.0.113.10," + address}
	}
	reachable(false)
	require.Equal(t, name("203.0.113.21"), w.published(prod), "the worker's word is newer")
	w.monitor(firstContext, paris, "203.0.113.61")
	w.settle(prod)
	require.Equal(t, name("203.0.113.61"), w.published(prod))
	for says, published := range map[string]string{"<html>": "203.0.113.61", `{"serviceStatuses":[]}`: "203.0.113.21"} {
		w.monitor(firstContext, paris, "203.0.113.61")
		w.settle(prod)
		w.putKey("/context/1111/app/web/cluster/edge+paris/status/", quoted(t, says))
		w.settle(prod)
		require.Equal(t, name(published), w.published(prod), says)
	}
	w.monitor(firstContext, paris, "203.0.113.62")
	reachable(true)
	require.Equal(t, name("203.0.113.21"), w.published(prod))
}

// TestTheMonitorSpeaksOfLoadBalancersAlone: what a worker has seen beside them
// stays, though it cannot be seen any more (I11).
func TestTheMonitorSpeaksOfLoadBalancersAlone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.appContext(firstContext)
	w.event(firstContext, intent.Instantiate)
	writer, err := w.observed.Writer(t.Context(), paris, fence)
	require.NoError(t, err)
	require.NoError(t, writer.SetService(t.Context(), "shop", "web", address.Observation{Found: true, Candidates: []address.Candidate{
		{Kind: address.LoadBalancer, Target: "203.0.113.21", Field: "status.loadBalancer.ingress[0].ip"},
		{Kind: address.External, Target: "203.0.113.22", Field: "spec.externalIPs[0]"},
		{Kind: address.Ingress, Object: "Ingress shop/web", Target: "203.0.113.23", Field: "status.loadBalancer.ingress[0].ip"},
	}}))
	require.NoError(t, writer.SetReachability(t.Context(), observed.Reachability{Since: w.clock.Now()}))
	w.monitor(firstContext, paris, "203.0.113.60")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.22,203.0.113.23,203.0.113.60"}, w.published(prod))
}

// TestTheControllerFollowsEMCO: states, addresses and metas, without a look at
// everything.
func TestTheControllerFollowsEMCO(t *testing.T) {
	t.Parallel()
	w := inventoryShop(t)
	w.control(t)
	w.monitor(firstContext, paris, "203.0.113.60")
	until(t, "an address has come", func() bool { return w.publishes(prod, "203.0.113.60") })
	w.monitor(firstContext, paris, "203.0.113.61")
	until(t, "an address is followed", func() bool { return w.publishes(prod, "203.0.113.61") })
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.replace(firstContext, secondContext)
	until(t, "an update is followed without its event", func() bool { return w.publishes(prod, "two.lab.example") })
	child := w.contextID()
	until(t, "the child is named", func() bool { return slices.Equal(w.children(secondContext), []string{child}) })
	w.putKey("/context/2222/meta/", strings.Replace(w.value("/context/2222/meta/"), child, "77", 1))
	until(t, "the child is named again", func() bool { return len(w.children(secondContext)) == 2 })
	w.tell(secondContext, "Terminate", "")
	until(t, "a termination is followed without its event", func() bool {
		w.applyAll()
		w.clock.pass(time.Second)
		return w.state(prod) == intent.Terminated
	})
}

// TestAddressesAreFollowedWhileEMCOsServicesAreDown: what a step needs of the
// group and of drained clusters is as it was, after a restart as well.
func TestAddressesAreFollowedWhileEMCOsServicesAreDown(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	require.NoError(t, w.drain(paris, false))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10"}, w.published(prod))
	w.fake.Before = func(op, key string) error {
		if op == "get" && (strings.HasPrefix(key, "/signpost/doc/projects/") || strings.HasPrefix(key, "/signpost/doc/cluster-providers/")) {
			return &intent.Error{Code: intent.Unavailable, Detail: "EMCO is down"}
		}
		return nil
	}
	w.observe(berlin, "shop/web", "203.0.113.11")
	require.NoError(t, w.rest())
	w.fake.Before = nil
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11"}, w.published(prod))
}

// TestAClusterThatOnlyEMCOsMonitorSeesCanBeDrained: its addresses are published
// as others are.
func TestAClusterThatOnlyEMCOsMonitorSeesCanBeDrained(t *testing.T) {
	t.Parallel()
	w := inventoryShop(t)
	w.monitor(firstContext, paris, "203.0.113.60")
	w.settle(prod)
	require.NoError(t, w.drain(paris, false))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10"}, w.published(prod))
	require.Equal(t, intent.Conflict, intent.CodeOf(w.drain(berlin, false)), "it has the last address")
}
