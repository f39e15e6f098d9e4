package nameindex

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestTheFleetSumsUpWhatTheCallerMayRead: names by state, clusters with what waits there,
// and external-dns, page by page.
func TestTheFleetSumsUpWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		w.published(prod, "lab", "www.lab.example", "a.lab.example")
		bread := w.published(nameOwner("bakery", "bread.example"), "bread", "bread.example")
		w.sync(bread, 1, "Differs")
		since := time.Now().UTC()
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{
			{ID: endpointID(bread), Owners: []string{string(bread.Path)}, Status: ledger.Retrying, Since: since},
		}, nil))
		synctest.Wait()
		all := intent.FleetQuery{Limit: 2, Sees: func(string) bool { return true }, Drained: map[string]bool{"edge+berlin": true}}
		fleet, err := w.index.Census(all)
		require.NoError(t, err)
		require.Equal(t, map[intent.State]int{intent.Instantiated: 1}, fleet.Groups)
		require.Equal(t, map[intent.State]int{intent.Instantiated: 1}, fleet.Names)
		sum := intent.HostCounts{Total: 3, Unpublished: 1, Unverified: 1}
		require.Equal(t, sum, fleet.Hosts)
		require.Equal(t, []intent.FleetItem{
			{Kind: "cluster", Cluster: "edge+berlin", Healthy: "Unknown", Drained: true, Hosts: sum},
			{Kind: "cluster", Cluster: hub, Healthy: "True", Pending: 1, Since: &since, Hosts: sum},
		}, fleet.Items)
		all.After = fleet.Continue
		fleet, err = w.index.Census(all)
		require.NoError(t, err)
		require.Empty(t, fleet.Continue)
		require.Equal(t, []intent.FleetItem{
			{Kind: "externalDNS", Cluster: hub, Project: "bakery", Record: "bread", Scope: intent.Public, Healthy: "True", Hosts: intent.HostCounts{Total: 1, Unpublished: 1, Unverified: 1}},
			{Kind: "externalDNS", Cluster: hub, Project: "shop", Record: "lab", Scope: intent.Public, Healthy: "True", Hosts: intent.HostCounts{Total: 2}},
		}, fleet.Items)

		fleet, err = w.index.Census(intent.FleetQuery{Limit: 100, Sees: seesOnly("shop")})
		require.NoError(t, err)
		require.Empty(t, fleet.Names)
		require.Equal(t, intent.HostCounts{Total: 2}, fleet.Hosts)
		require.Len(t, fleet.Items, 3)
		require.Zero(t, fleet.Items[1].Pending, "what waits for others is not told")
		_, err = w.index.Census(intent.FleetQuery{After: "%"})
		require.Equal(t, intent.Invalid, intent.CodeOf(err))
		w.apply(bread, 1, ledger.Applied)
		synctest.Wait()
		fleet, err = w.index.Census(intent.FleetQuery{Limit: 100, Sees: seesOnly("bakery")})
		require.NoError(t, err)
		require.Zero(t, fleet.Items[1].Pending)
		_, err = New(time.Now).Census(all)
		require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	})
}
