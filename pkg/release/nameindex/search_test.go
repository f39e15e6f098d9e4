package nameindex

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestAQueryFindsWhatItAsksFor, by each of its fields, and only of projects that the
// caller may read.
func TestAQueryFindsWhatItAsksFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		w.published(prod, "lab", "www.lab.example", "*.lab.example")
		w.published(nameOwner("bakery", "www.bread.example"), "bread", "www.bread.example")
		w.put(groupOf(nameOwner("shop", "api.lab.example"), "corp", []string{"edge+paris"}, "api.lab.example"), deployed())
		const (
			api  = "api.lab.example api.lab.example corp Instantiated Unknown Unknown"
			all  = "*.lab.example prod lab Instantiated True True"
			www  = "www.lab.example prod lab Instantiated True True"
			buns = "www.bread.example www.bread.example bread Instantiated True True"
		)
		for what, c := range map[string]struct {
			query intent.NameQuery
			want  []string
		}{
			"all":                {intent.NameQuery{}, []string{all, api, buns, www}},
			"one":                {intent.NameQuery{Pattern: "WWW.lab.example."}, []string{www}},
			"a wildcard itself":  {intent.NameQuery{Pattern: "*.lab.example"}, []string{all, api, www}},
			"a beginning":        {intent.NameQuery{Pattern: "www.*"}, []string{buns, www}},
			"two parts":          {intent.NameQuery{Pattern: "*w*.*d.*le"}, []string{buns}},
			"parts that overlap": {intent.NameQuery{Pattern: "www.lab*b.example"}, nil},
			"a part":             {intent.NameQuery{Pattern: "*bread*"}, []string{buns}},
			"no beginning of it": {intent.NameQuery{Pattern: "www.lab"}, nil},
			"a project":          {intent.NameQuery{Project: "bakery"}, []string{buns}},
			"a provider":         {intent.NameQuery{Provider: "corp"}, []string{api}},
			"a source":           {intent.NameQuery{Cluster: "edge+paris"}, []string{api}},
			"an external-dns":    {intent.NameQuery{Cluster: hub}, []string{all, api, buns, www}},
			"a state":            {intent.NameQuery{State: intent.Failed}, nil},
			"not published":      {intent.NameQuery{Published: "NotTrue"}, []string{api}},
			"published":          {intent.NameQuery{Published: "True", Project: "shop"}, []string{all, www}},
			"not verified":       {intent.NameQuery{Verified: "Unknown"}, []string{api}},
			"of one's projects":  {intent.NameQuery{Sees: seesOnly("bakery")}, []string{buns}},
			"of no project":      {intent.NameQuery{Sees: seesOnly()}, nil},
			"of nobody":          {intent.NameQuery{Project: "shop", Sees: seesOnly("bakery")}, nil},
		} {
			require.Equal(t, c.want, w.find(c.query), what)
		}
		page, err := w.index.FindNames(intent.NameQuery{Limit: 1, Sees: seesOnly("bakery")})
		require.NoError(t, err)
		require.Equal(t, 1, page.Total, "totals count what the caller may read")
		require.Equal(t, []string{hub}, page.Items[0].Home)
		require.Equal(t, []string{"edge+berlin"}, page.Items[0].Clusters)
		_, err = w.index.FindNames(intent.NameQuery{After: "none"})
		require.Equal(t, intent.Invalid, intent.CodeOf(err))
	})
}

// TestTheWorstComeFirst, by the gravest fault of each.
func TestTheWorstComeFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		name := func(host string) { w.published(nameOwner("shop", host), "lab", host) }
		name("good.example")
		name("late.example")
		name("bad.example")
		failed := deployed()
		failed.Failure = "no room"
		w.put(groupOf(nameOwner("shop", "failed.example"), "lab", nil, "failed.example"), failed)
		name("held.example")
		held := deployed()
		held.Retained = []state.RetainedNames{{Record: "projects/shop/dns-update-records/lab", Names: 1}}
		w.put(groupOf(nameOwner("shop", "held.example"), "lab", nil, "held.example"), held)
		going := deployed()
		going.Wanted, going.Settled = intent.Terminate, false
		w.put(groupOf(nameOwner("shop", "going.example"), "lab", nil, "going.example"), going)
		w.sync(groupOf(nameOwner("shop", "bad.example"), "lab", nil, "bad.example"), 1, "NotThere")
		w.sync(groupOf(nameOwner("shop", "late.example"), "lab", nil, "late.example"), 1, "NotAsked")
		require.Equal(t, []string{
			"failed.example failed.example lab Failed False Unknown",
			"bad.example bad.example lab Instantiated True False",
			"held.example held.example lab Instantiated True True",
			"late.example late.example lab Instantiated True Unknown",
			"going.example going.example lab Terminating False Unknown",
			"good.example good.example lab Instantiated True True",
		}, w.find(intent.NameQuery{Worst: true}))
		page, err := w.index.FindNames(intent.NameQuery{Pattern: "held.example", Limit: 1, Sees: func(string) bool { return true }})
		require.NoError(t, err)
		require.Equal(t, "no address of it exists any more; its removal is held, because too many names would go at once", page.Items[0].Reason)
		troubles, err := w.index.Troubles(intent.TroubleQuery{Limit: 1, Sees: func(string) bool { return true }})
		require.NoError(t, err)
		require.Equal(t, page.Items[0].Reason, troubles.Items[0].Message)
	})
}

// TestAReasonIsToldWithEachFault, and none of a name that is published and answered.
func TestAReasonIsToldWithEachFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		reasons := func() map[string]string {
			synctest.Wait()
			page, err := w.index.FindNames(intent.NameQuery{Limit: 100, Sees: seesOnly("shop")})
			require.NoError(t, err)
			out := map[string]string{}
			for _, n := range page.Items {
				out[n.Name] = n.Reason
			}
			return out
		}
		w.put(groupOf(nameOwner("shop", "new.example"), "lab", nil, "new.example"), deployed())
		require.Equal(t, map[string]string{"new.example": "it has no address that may be published, or its DNSEndpoint is not in edge/hub yet"}, reasons())

		g := groupOf(nameOwner("shop", "new.example"), "lab", nil, "new.example")
		w.apply(g, 1, ledger.Applied)
		require.Equal(t, "external-dns cannot be observed on edge/hub", reasons()["new.example"])
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), nil, []bundle.ID{endpointID(g)}))

		w.published(nameOwner("shop", "good.example"), "lab", "good.example")
		foreign := w.published(nameOwner("shop", "foreign.example"), "lab", "foreign.example")
		w.answer(foreign, "Foreign", "192.0.2.1:53 answers 203.0.113.9")
		stale := w.published(nameOwner("shop", "stale.example"), "lab", "stale.example")
		w.apply(stale, 2, ledger.Applied)
		refused := w.published(nameOwner("shop", "refused.example"), "lab", "refused.example")
		w.apply(refused, 2, ledger.Failed)
		silent := w.published(nameOwner("shop", "silent.example"), "lab", "silent.example")
		w.answer(silent, "Unreachable", "192.0.2.1:53 does not answer")
		failed, updating, going := deployed(), deployed(), deployed()
		failed.Failure, updating.Settled, updating.Wanted, going.Settled, going.Wanted = "no room", false, intent.Update, false, intent.Terminate
		w.put(groupOf(nameOwner("shop", "failed.example"), "lab", nil, "failed.example"), failed)
		w.put(groupOf(nameOwner("shop", "late.example"), "lab", nil, "late.example"), updating)
		w.put(groupOf(nameOwner("shop", "going.example"), "lab", nil, "going.example"), going)
		require.Equal(t, map[string]string{
			"new.example":     "it has no address that may be published, or its DNSEndpoint is not in edge/hub yet",
			"good.example":    "",
			"foreign.example": "192.0.2.1:53 answers 203.0.113.9",
			"stale.example":   "external-dns has not synchronized yet since the DNSEndpoint changed",
			"refused.example": "the cluster says why",
			"silent.example":  "192.0.2.1:53 does not answer",
			"failed.example":  "no room",
			"late.example":    "its release is on the way to edge/hub",
			"going.example":   "",
		}, reasons())

		deployment := func(d observed.Deployment) {
			g := groupOf(prod, "lab", nil, "any.example")
			require.NoError(t, w.writer(hub).SetDeployment(t.Context(), g.Project.Namespace, provider.DeploymentName("lab", intent.Public), d))
		}
		deployment(observed.Deployment{Message: "ImagePullBackOff"})
		require.Equal(t, "ImagePullBackOff", reasons()["good.example"])
		deployment(observed.Deployment{Available: true, Sync: &observed.Sync{Failing: "AccessDenied"}})
		require.Equal(t, "AccessDenied", reasons()["stale.example"])
		require.Empty(t, reasons()["good.example"], "it was put through before")
		require.NoError(t, w.writer(hub).SetReachability(t.Context(), observed.Reachability{Message: "no route"}))
		require.Equal(t, "edge/hub, the home of external-dns, cannot be reached: no route", reasons()["good.example"])
		fleet, err := w.index.Census(intent.FleetQuery{Limit: 1, Cluster: hub, Sees: seesOnly("shop")})
		require.NoError(t, err)
		require.Equal(t, "no route", fleet.Items[0].Message)
		require.Equal(t, "192.0.2.1:53 answers 203.0.113.9", reasons()["foreign.example"], "what is known to be wrong comes first")
	})
}

// reasonOf is why the only name in project shop is not as it should be.
func (w *world) reasonOf() string {
	w.Helper()
	synctest.Wait()
	page, err := w.index.FindNames(intent.NameQuery{Limit: 2, Sees: seesOnly("shop")})
	require.NoError(w, err)
	require.Len(w, page.Items, 1)
	return page.Items[0].Reason
}

// TestTheReasonOfARefusalOutlivesTheIndex: one that is filled from the same stores tells it, too.
func TestTheReasonOfARefusalOutlivesTheIndex(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := groupOf(nameOwner("shop", "www.example"), "lab", nil, "www.example")
		w.put(g, deployed())
		w.apply(g, 0, ledger.Failed)
		require.Equal(t, "the cluster says why", w.reasonOf())
		w.index = New(time.Now)
		w.feed = &Feed{Store: w.store, Index: w.index, Watch: w.feed.Watch}
		w.run()
		require.Equal(t, "the cluster says why", w.reasonOf())
	})
}

// TestReasonsOfTheBuiltInPublisherSpeakOfNoCluster, because it is in none.
func TestReasonsOfTheBuiltInPublisherSpeakOfNoCluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.run()
		g := groupOf(nameOwner("shop", "www.example"), "lab", nil, "www.example")
		g.Bindings[0].Cluster = "_publisher.shop+lab"
		require.True(t, intent.IsPublisher(g.Bindings[0].Cluster))
		updating := deployed()
		updating.Settled, updating.Wanted = false, intent.Update
		w.put(g, updating)
		require.Equal(t, "its release is on the way to the built-in publisher", w.reasonOf())
		w.put(g, deployed())
		require.Equal(t, "it has no address that may be published, or the built-in publisher does not have the name yet", w.reasonOf())
		w.apply(g, 1, ledger.Applied)
		require.Equal(t, "the built-in publisher has not begun yet", w.reasonOf())
		w.sync(g, 1, "Matches")
		require.Empty(t, w.reasonOf())
		w.apply(g, 2, ledger.Applied)
		require.Equal(t, "the built-in publisher has not synchronized yet since the name changed", w.reasonOf())
		writer := w.writer(g.Bindings[0].Cluster)
		require.NoError(t, writer.SetDeployment(t.Context(), g.Project.Namespace, provider.DeploymentName("lab", intent.Public), observed.Deployment{}))
		require.Equal(t, "the built-in publisher is not available", w.reasonOf())
		require.NoError(t, writer.SetReachability(t.Context(), observed.Reachability{Message: "it stopped"}))
		require.Equal(t, "the built-in publisher does not answer: it stopped", w.reasonOf())
	})
}

// TestPagesHoldEachNameOnce, in order, whatever the size of pages, by name and by
// severity, while other names come and go.
func TestPagesHoldEachNameOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		full := newTables()
		stays := rapid.IntRange(0, 30).Draw(t, "names")
		for n := range stays {
			host := fmt.Sprintf("n%02d.example", n)
			g := groupOf(nameOwner("shop", host), "lab", nil, host)
			full.put(g.Path, instantiated(), g)
			if rapid.Bool().Draw(t, "broken") {
				full.see(observed.Sighting{Kind: observed.OfAnswers, Cluster: hub, Namespace: "shop-dns", Name: endpointID(g).Name, Answers: &observed.Answers{
					Names: []observed.NameAnswer{{Name: host, Type: "A", Verdict: "Foreign"}},
				}})
			}
		}
		index := New(time.Now)
		index.replace(full, 1, time.Now())
		query := intent.NameQuery{Worst: rapid.Bool().Draw(t, "worst"), Limit: rapid.IntRange(1, 7).Draw(t, "limit"), Sees: func(string) bool { return true }}
		var hosts []string
		for {
			page, err := index.FindNames(query)
			require.NoError(t, err)
			for _, item := range page.Items {
				if item.Project == "shop" {
					hosts = append(hosts, item.Verified+item.Name)
				}
			}
			if query.After = page.Continue; query.After == "" {
				break
			}
			require.Len(t, page.Items, query.Limit)
			host := fmt.Sprintf("n%02d.example", rapid.IntRange(0, 40).Draw(t, "other"))
			index.change(func(now *tables) {
				now.put(nameOwner("bakery", host), instantiated(), groupOf(nameOwner("bakery", host), "bread", nil, host))
			})
		}
		require.Len(t, hosts, stays)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(hosts))), stays)
		if query.Worst {
			require.True(t, slices.IsSorted(hosts), "False comes before Unknown")
		}
	})
}

// fillMany makes an index of so many names, each of an owner of its own, as they are when
// all is known of them.
func fillMany(names int) *tables {
	t := newTables()
	for n := range names {
		project := fmt.Sprintf("project-%03d", n%200)
		host := fmt.Sprintf("service-%06d.team-%03d.shop.example.com", n, n%200)
		g := groupOf(nameOwner(project, host), "lab", []string{fmt.Sprintf("dc+c%d", n%50), "dc+other"}, host)
		t.put(g.Path, instantiated(), g)
		id := endpointID(g)
		t.take(ledger.Changed{ID: id, Entry: &ledger.Entry{UID: "u", Generation: int64(n), Status: ledger.Applied}})
		t.see(observed.Sighting{Kind: observed.OfPublished, Cluster: hub, Namespace: id.Namespace, Name: id.Name, Published: &observed.Published{UID: "u", Generation: int64(n)}})
		t.see(observed.Sighting{Kind: observed.OfAnswers, Cluster: hub, Namespace: id.Namespace, Name: id.Name, Answers: &observed.Answers{
			Names: []observed.NameAnswer{{Name: host, Type: "A", Verdict: "Matches"}, {Name: host, Type: "AAAA", Verdict: "Matches"}},
		}})
	}
	t.settle()
	return t
}

// TestAnEntryTakesAKibibyteAtMost, with all that is known of it.
func TestAnEntryTakesAKibibyteAtMost(t *testing.T) {
	const names = 20_000
	before := memory.InUse()
	tables := fillMany(names)
	each := (memory.InUse() - before) / names
	runtime.KeepAlive(tables)
	t.Logf("%d bytes for each name", each)
	require.Less(t, each, 1024)
}

// BenchmarkFind100000 asks among 100,000 names.
func BenchmarkFind100000(b *testing.B) {
	index := New(time.Now)
	index.replace(fillMany(100_000), 1, time.Now())
	for what, query := range map[string]intent.NameQuery{
		"all": {}, "worst": {Worst: true}, "pattern": {Pattern: "*team-1*.example.com"}, "cluster": {Cluster: "dc+c7", Verified: "False"}, "one": {Pattern: "service-050000.team-000.shop.example.com"},
	} {
		query.Limit, query.Sees = 500, seesOnly("project-001", "project-007")
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				index.replace(index.tables, 1, time.Now())
				if _, err := index.FindNames(query); err != nil {
					b.Fatal(err)
				}
			}
		})
		query.Sees = func(string) bool { return true }
		b.Run(what+" of everything", func(b *testing.B) {
			for b.Loop() {
				index.replace(index.tables, 1, time.Now())
				if _, err := index.FindNames(query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChangeAmong100000 changes one name and asks.
func BenchmarkChangeAmong100000(b *testing.B) {
	index := New(time.Now)
	index.replace(fillMany(100_000), 1, time.Now())
	for b.Loop() {
		host := fmt.Sprintf("service-%06d.example.com", rand.IntN(100_000))
		g := groupOf(nameOwner("shop", host), "lab", nil, host)
		index.change(func(t *tables) { t.put(g.Path, instantiated(), g) })
		index.lockOrdered()
		index.mu.RUnlock()
	}
}
