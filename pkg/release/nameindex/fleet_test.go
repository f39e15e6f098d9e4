package nameindex

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
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

		items := func(q intent.FleetQuery) (keys []string) {
			q.Sees = all.Sees
			for q.Limit = 1; ; {
				fleet, err := w.index.Census(q)
				require.NoError(t, err)
				require.Equal(t, sum, fleet.Hosts, "counts are of everything")
				for _, i := range fleet.Items {
					keys = append(keys, i.Kind+" "+i.Cluster+" "+i.Record)
				}
				if q.After = fleet.Continue; q.After == "" {
					return keys
				}
			}
		}
		require.Equal(t, []string{"cluster edge+berlin "}, items(intent.FleetQuery{Cluster: "edge+berlin"}))
		require.Equal(t, []string{"cluster edge+hub ", "externalDNS edge+hub bread", "externalDNS edge+hub lab"}, items(intent.FleetQuery{Cluster: hub}))
		require.Equal(t, []string{"cluster edge+berlin "}, items(intent.FleetQuery{Healthy: "NotTrue"}))
		require.Empty(t, items(intent.FleetQuery{Healthy: "False"}))

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

// TestTheFleetTellsSinceWhenAClusterIsUnreachable, until it answers again.
func TestTheFleetTellsSinceWhenAClusterIsUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		w.published(nameOwner("shop", "www.example"), "lab", "www.example")
		lost := func() *time.Time {
			synctest.Wait()
			fleet, err := w.index.Census(intent.FleetQuery{Limit: 10, Sees: seesOnly("shop"), Cluster: hub})
			require.NoError(t, err)
			require.Equal(t, "cluster", fleet.Items[0].Kind)
			return fleet.Items[0].Lost
		}
		require.Nil(t, lost(), "it answers")
		since := time.Now().UTC()
		require.NoError(t, w.writer(hub).SetReachability(t.Context(), observed.Reachability{Message: "no answer in time", Since: since}))
		require.Equal(t, &since, lost())
		require.NoError(t, w.writer(hub).SetReachability(t.Context(), observed.Reachability{Reachable: true, Since: since.Add(time.Minute)}))
		require.Nil(t, lost())
	})
}

// TestTheFleetTellsHowLongAnswersTook, of the last change of each name that was answered in
// the last 24 hours.
func TestTheFleetTellsHowLongAnswersTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		times := func() *intent.AnswerTimes {
			synctest.Wait()
			fleet, err := w.index.Census(intent.FleetQuery{Limit: 10, Sees: seesOnly("shop")})
			require.NoError(t, err)
			return fleet.AnswerTimes
		}
		answered := func(host string, took, ago time.Duration) {
			g := w.published(nameOwner("shop", host), "lab", host)
			names := w.answers[g.Project.Namespace+"/"+endpointID(g).Name].Names
			names[0].Since = time.Now().Add(-ago)
			require.NoError(t, w.writer(hub).SetAnswers(t.Context(), w.answers))
			stages := ledger.StagesOf(intent.Stages{Observed: names[0].Since.Add(-took)})
			require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), []ledger.Entry{
				{ID: endpointID(g), UID: "u", Generation: 1, Status: ledger.Applied, Stages: &stages},
			}, nil))
		}
		w.published(nameOwner("shop", "untold.example"), "lab", "untold.example")
		require.Nil(t, times())
		answered("quick.example", time.Second, time.Hour)
		require.Equal(t, &intent.AnswerTimes{Names: 1, Median: "1s", P95: "1s", Longest: "1s"}, times())
		answered("slow.example", time.Minute, time.Hour)
		answered("usual.example", 2*time.Second, 20*time.Hour)
		answered("old.example", time.Hour, 25*time.Hour)
		answered("earlier.example", -time.Second, time.Hour) // the change left its answer alone
		want := &intent.AnswerTimes{Names: 3, Median: "2s", P95: "1m0s", Longest: "1m0s"}
		require.Equal(t, want, times())
		time.Sleep(5 * time.Hour) // of fake time; the Feed goes on hearing from its stores
		want = &intent.AnswerTimes{Names: 2, Median: "1s", P95: "1m0s", Longest: "1m0s"}
		require.Equal(t, want, times())
		w.answer(groupOf(nameOwner("shop", "slow.example"), "lab", nil, "slow.example"), "NotThere", "gone")
		require.Equal(t, 1, times().Names)
	})
}
