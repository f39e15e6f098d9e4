package release_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// sharing is a world in which prod and test both use record lab.
func sharers(t testing.TB) *world {
	w := newShop(t)
	w.group(test, "api", "api.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	return w
}

// users are all users of record lab.
func (w *world) users() []intent.Use {
	w.Helper()
	page, err := w.service.Users(context.Background(), lab, 500, "")
	require.NoError(w, err)
	require.Empty(w, page.Continue)
	return page.Items
}

func TestUsersComeInPages(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	first, err := w.service.Users(t.Context(), lab, 1, "")
	require.NoError(t, err)
	require.Equal(t, w.users()[:1], first.Items)
	second, err := w.service.Users(t.Context(), lab, 1, first.Continue)
	require.NoError(t, err)
	require.Equal(t, intent.UsePage{Items: w.users()[1:]}, second)
	for _, wrong := range []string{"?", "eHg"} {
		_, err = w.service.Users(t.Context(), lab, 1, wrong)
		require.Equal(t, intent.Invalid, intent.CodeOf(err), wrong)
	}
}

func TestUsersOfASharedRecordAreListedAndAnnotated(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	users := w.users()
	require.Equal(t, []intent.Use{
		{DeploymentIntentGroup: string(prod), Clusters: []string{hub}},
		{DeploymentIntentGroup: string(test), Clusters: []string{hub}},
	}, users)
	require.Contains(t, w.deployment(labOnHub), `"signpost.dev/users":"store/v1/prod,store/v1/test"`)

	w.do(intent.Terminate, test)
	w.settle(test)
	users = w.users()
	require.Len(t, users, 1)
	require.Contains(t, w.deployment(labOnHub), `"signpost.dev/users":"store/v1/prod"`)
}

func TestUsersOfWhatDoesNotExistAreNotFound(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.service.Users(t.Context(), lab+"x", 500, "")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	users := w.users()
	require.Equal(t, []intent.Use{}, users)
}

func TestTheProviderStaysAsLongAsOneUserDoes(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	w.do(intent.Terminate, test)
	w.settle(test)
	require.Equal(t, intent.Terminated, w.state(test), "it does not wait for a provider that others use")
	w.outlive()
	require.NotEmpty(t, w.deployment(labOnHub))
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
	require.Empty(t, w.published(test))
}

func TestTheProviderOutlivesTheLastNames(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	w.do(intent.Terminate, test)
	w.settle(test)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Empty(t, w.published(prod), "DNSEndpoints go first")
	require.NotEmpty(t, w.deployment(labOnHub))
	w.clock.pass(69 * time.Second)
	require.NoError(t, w.rest())
	require.NotEmpty(t, w.deployment(labOnHub), "the releaseTimeout is 70 s")
	require.Equal(t, intent.Terminating, w.state(prod))
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete(lab)), "the record is still deployed")

	w.clock.pass(time.Second)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.deployment(labOnHub))
	require.Empty(t, w.inClusters())
	require.NoError(t, w.delete(lab))
}

// TestTheDrainBeginsWhenTheNamesAreConfirmedToBeGone: time that passes before
// does not count.
func TestTheDrainBeginsWhenTheNamesAreConfirmedToBeGone(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.down[hub] = true
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Contains(t, w.inClusters(), "edge+hub Deployment external-dns-lab")
	require.NotEmpty(t, w.deployment(labOnHub), "the hub still holds the DNSEndpoint")
	delete(w.down, hub)
	require.NoError(t, w.rest())
	require.NotEmpty(t, w.deployment(labOnHub), "the time counts from now")
	w.outlive()
	w.settle(prod)
	require.Empty(t, w.inClusters())
}

func TestReleaseTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason  string
		record  intent.Record
		targets int
		want    time.Duration
	}{
		{"as the record says", intent.Record{ReleaseTimeout: "70s", Provider: "coredns"}, 9, 70 * time.Second},
		{"twice the default interval and a minute", intent.Record{}, 1, 3 * time.Minute},
		{"twice its interval and a minute", intent.Record{Parameters: map[string]any{"interval": "5s"}}, 9, 70 * time.Second},
		{"Signpost's own publisher may have to take over", intent.Record{ReleaseTimeout: "5s", DeployOn: &intent.Home{Publisher: intent.BuiltIn}}, 1, 45 * time.Second},
		{"Signpost's own publisher has the time that the record allows", intent.Record{ReleaseTimeout: "70s", DeployOn: &intent.Home{Publisher: intent.BuiltIn}}, 1, 70 * time.Second},
		{"what does not parse says nothing", intent.Record{ReleaseTimeout: "soon"}, 1, 3 * time.Minute},
		{"coredns removes a target in each interval", intent.Record{Provider: "coredns", Parameters: map[string]any{"interval": "5s"}}, 9, 110 * time.Second},
		{"never less than twice the interval", intent.Record{Provider: "coredns", Parameters: map[string]any{"interval": "5s"}}, 0, 70 * time.Second},
	} {
		require.Equal(t, c.want, state.ReleaseTimeout(plan.Record{Spec: c.record}, c.targets), c.reason)
	}
	require.Equal(t, 11*time.Minute, state.ReleaseTimeout(plan.Record{Interval: 5 * time.Minute}, 1), "twice the interval that was chosen")
}

// TestExternalDNSOutlivesANameByItsTargets: three here, of both kinds.
func TestExternalDNSOutlivesANameByItsTargets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, strings.Replace(record("lab.example", ``), `"releaseTimeout":"70s"`, `"extraArgs":[]`, 1))
	w.observe(berlin, "shop/web", "203.0.113.10", "2001:4860:4860::8888")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	w.clock.pass(79 * time.Second)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod), "four intervals of 5 s and a minute")
	w.clock.pass(time.Second)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
}

func TestAnUpdateThatDropsARecordDrainsIt(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.corp.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	corpOnHub := state.Use{Record: corp, Scope: intent.Public, Cluster: hub}
	require.NotEmpty(t, w.deployment(corpOnHub))

	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	w.associate(eu, "lab")
	w.do(intent.Update, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Instantiated, w.state(prod), "it does not wait for what it no longer uses")
	require.NotEmpty(t, w.deployment(corpOnHub), "it removes the name that it published")
	require.Len(t, w.published(prod), 1)
	w.outlive()
	w.settle(prod)
	require.Empty(t, w.deployment(corpOnHub))
	require.NotEmpty(t, w.deployment(labOnHub))
	require.NoError(t, w.delete(corp), "nothing of it is deployed any more")
}

func TestADroppedRecordThatIsUsedAgainStays(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.corp.example"]}`)
	w.associate(eu, "lab", "corp")
	w.do(intent.Update, prod)
	require.NoError(t, w.rest())
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	w.do(intent.Update, prod)
	w.outlive()
	w.outlive()
	w.settle(prod)
	require.NotEmpty(t, w.deployment(labOnHub))
	require.Empty(t, w.deployment(state.Use{Record: corp, Scope: intent.Public, Cluster: hub}))
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
}

func TestAClusterThatIsDownKeepsTheGroupTerminating(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 1)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.down[berlin] = true
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, intent.Terminating, w.state(prod))
	require.Equal(t, []string{"edge+berlin ConfigMap c0"}, w.inClusters())
	delete(w.down, berlin)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.Empty(t, w.inClusters())
}

func TestAClusterThatWasDownAtTerminateAndIsInstantiatedMeanwhileKeepsItsObjects(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 1)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.down[berlin] = true
	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, prod)
	require.NoError(t, w.rest())
	delete(w.down, berlin)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Contains(t, w.inClusters(), "edge+berlin ConfigMap c0")
	require.Len(t, w.published(prod), 1)
}

// TestTerminatedWaitsForAClusterThatAnUpdateDropped: what was deleted is gone
// everywhere (I5), and status does not say so before (I6).
func TestTerminatedWaitsForAClusterThatAnUpdateDropped(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 1)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.down[berlin] = true
	require.NoError(t, w.delete(eu.Child("cluster-references", "berlin")))
	w.do(intent.Update, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Instantiated, w.state(prod), "the release does not include the cluster")
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete("cluster-providers/edge/clusters/berlin")), "objects of ours are on it")
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, []string{"edge+berlin ConfigMap c0"}, w.inClusters())
	require.Equal(t, intent.Terminating, w.state(prod))
	require.Contains(t, w.snapshot(prod).Clusters, berlin)
	delete(w.down, berlin)
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.NoError(t, w.delete("cluster-providers/edge/clusters/berlin"))
}

func TestAnUpdateLetsGoOfADroppedClusterOnceItIsEmpty(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 1)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.NoError(t, w.delete(eu.Child("cluster-references", "berlin")))
	w.do(intent.Update, prod)
	w.settle(prod)
	require.NotContains(t, w.inClusters(), "edge+berlin ConfigMap c0")
	require.NoError(t, w.delete("cluster-providers/edge/clusters/berlin"))
}

func TestNamesStayBehindWherePolicyNeverDeletes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		left   int
	}{{"sync", 0}, {"upsert-only", 1}, {"create-only", 1}} {
		w := newShop(t)
		w.put(lab, `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"`+c.policy+`"},"releaseTimeout":"70s"}`)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.do(intent.Terminate, prod)
		failOnce(w, pointerOf(prod)) // the step is repeated
		require.Error(t, w.rest())
		w.outlive()
		w.settle(prod)
		left := w.snapshot(prod).Lifecycle.Leftovers
		require.Len(t, left, c.left, c.policy)
		if c.left > 0 {
			require.Equal(t, intent.Leftover{Name: "www.lab.example", Type: "A", Record: "lab", Reason: "policy " + c.policy + " never deletes names"}, left[0])
		}
	}
}

// pointerOf is the key of a group's pointer.
func pointerOf(group intent.Path) string { return "/signpost/current/" + string(group) }

// failOnce has the next write that begins with a key fail.
func failOnce(w *world, key string) {
	w.fake.Before = func(op, first string) error {
		if op != "txn" || first != key {
			return nil
		}
		w.fake.Before = nil
		return errCrashed
	}
}

// TestARecordIsFreeAsSoonAsTheGroupIsTerminated: also when the worker is done
// between the step of the provider and that of the group.
func TestARecordIsFreeAsSoonAsTheGroupIsTerminated(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.do(intent.Terminate, prod)
	w.outliveOfGroup(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	require.NoError(t, w.delete(lab))
}

// outliveOfGroup steps the group, and before it the provider, with the worker coming between their reads, until the group is
// terminated.
func (w *world) outliveOfGroup(group intent.Path) {
	working := false
	w.fake.After = func(string, string) error {
		if !working {
			working = true
			w.applyAll()
			working = false
		}
		return nil
	}
	defer func() { w.fake.After = nil }()
	for range rounds {
		require.NoError(w, w.service.StepRecord(w.Context(), lab))
		require.NoError(w, w.step(group))
		w.clock.pass(10 * time.Second)
		if w.state(group) == intent.Terminated {
			return
		}
	}
}

// TestARequestThatDiesAfterPinningLeavesNoRecordBehind: the record can be
// deleted once somebody has looked at it.
func TestARequestThatDiesAfterPinningLeavesNoRecordBehind(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	failOnce(w, "/signpost/doc/lifecycle//"+string(prod))
	_, err := w.try(intent.Instantiate, prod, "")
	require.ErrorIs(t, err, errCrashed)
	require.Equal(t, intent.Created, w.state(prod))
	require.NoError(t, w.rest())
	require.NoError(t, w.delete(lab))
}

// TestAPinningThatIsTakenBackTooEarlyIsMadeUpFor: the record was let go of
// while the request that uses it was still under way.
func TestAPinningThatIsTakenBackTooEarlyIsMadeUpFor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.meanwhile("/signpost/doc/lifecycle//"+string(prod), func() { require.NoError(w, w.service.StepRecord(context.Background(), lab)) })
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.NotEmpty(t, w.deployment(labOnHub))
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete(lab)))
}

func TestALostRaceLeavesNoReleaseBehind(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.meanwhile("/signpost/doc/lifecycle//"+string(prod), func() { w.do(intent.Instantiate, prod) })
	w.do(intent.Instantiate, prod)
	releases := 0
	for key := range w.keys() {
		if len(key) > 17 && key[:17] == "/signpost/release" {
			releases++
		}
	}
	require.Equal(t, 1, releases)
}

func TestOldReleasesAreDropped(t *testing.T) {
	t.Parallel()
	w := running(t)
	for n := range int64(14) {
		w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":`+string(rune('1'+n%9))+`}`)
		w.do(intent.Update, prod)
		w.settle(prod)
	}
	require.Len(t, w.snapshot(prod).Lifecycle.History, 10)
	require.NoError(t, w.contexts.Sweep(t.Context(), 0))
	var releases, contexts int
	for key := range w.keys() {
		switch {
		case len(key) > 17 && key[:17] == "/signpost/release":
			releases++
		case len(key) > 5 && key[len(key)-5:] == "meta/":
			contexts++
		}
	}
	require.Equal(t, 11, releases, "the current one and ten before")
	require.Equal(t, 3, contexts, "of the group the current and the previous one, and of external-dns")
}

func TestSnapshotsOfProvidersTellWhichAreDraining(t *testing.T) {
	t.Parallel()
	w := running(t)
	require.False(t, w.snapshot(prod).Providers[0].Draining)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	snap := w.snapshot(prod)
	require.Len(t, snap.Providers, 1)
	require.True(t, snap.Providers[0].Draining)
	require.Equal(t, appcontext.Owner(prod), snap.Owner)
	require.Equal(t, plan.OwnerID("k7wq2m9xhdr4", snap.Providers[0].Record.UID), snap.Providers[0].OwnerID)
}
