package release_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

const wwwOnBoth = "edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"

// rename gives prod another name, and brings it to the clusters.
func (w *world) rename(hostname string) {
	w.Helper()
	w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":[%q]}`, hostname))
	w.do(intent.Update, prod)
	w.settle(prod)
}

func (w *world) rollback(to int64) intent.Accepted {
	w.Helper()
	accepted, err := w.service.Rollback(context.Background(), prod, to, "", "ann")
	require.NoError(w, err)
	return accepted
}

// refusesRollback checks that a rollback and its plan both say each of texts,
// and that the store is as it was.
func (w *world) refusesRollback(to int64, texts ...string) {
	w.Helper()
	before := w.keys()
	_, err := w.service.Rollback(context.Background(), prod, to, "", "ann")
	require.Equal(w, intent.Conflict, intent.CodeOf(err), "%v", err)
	plan, planned := w.service.Plan(context.Background(), prod, intent.Rollback, to)
	require.NoError(w, planned, "a plan always answers")
	for _, text := range texts {
		require.ErrorContains(w, err, text)
		require.Contains(w, fmt.Sprint(plan.Errors), text)
	}
	require.Equal(w, before, w.keys(), "a refusal leaves no trace")
}

func TestRollbackMakesAnEarlierReleaseCurrentAsANewRevision(t *testing.T) {
	t.Parallel()
	w := running(t)
	first := w.snapshot(prod).Lifecycle.ContextID
	w.rename("shop.lab.example")

	accepted := w.rollback(1)
	require.Equal(t, int64(3), accepted.Revision)
	require.NotEqual(t, first, accepted.ContextID)
	require.Equal(t, intent.Updating, w.state(prod))
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))

	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.20"}, w.published(prod), "addresses are not frozen")

	events, err := w.service.Events(t.Context(), prod)
	require.NoError(t, err)
	require.Len(t, events, 6)
	require.Equal(t, "ann rollback 3 accepted to revision 1", fmt.Sprint(events[4].Actor, " ", events[4].Action, " ", events[4].Revision, " ", events[4].Outcome, " ", events[4].Message))
	require.Equal(t, "signpost rollback 3 completed", fmt.Sprint(events[5].Actor, " ", events[5].Action, " ", events[5].Revision, " ", events[5].Outcome))
}

func TestRollbackWithoutARevisionGoesBackByOneAndForthAgain(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("two.lab.example")
	w.rename("three.lab.example")
	w.rollback(0)
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "two.lab.example")
	w.rollback(0)
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "three.lab.example")
	require.Equal(t, int64(5), w.snapshot(prod).Lifecycle.Seq)
}

func TestRepeatedRollbackAnswersTheSame(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	accepted := w.rollback(1)
	require.Equal(t, accepted, w.rollback(1), "while Updating")
	w.settle(prod)
	before := w.keys()
	require.Equal(t, accepted, w.rollback(1), "when Instantiated")
	require.Equal(t, accepted, w.rollback(3), "to itself")
	require.Equal(t, before, w.keys())
}

// TestUpdateAfterARollbackDeploysTheLiveIntents: it is no update without a
// change, though the documents are what the last update froze.
func TestUpdateAfterARollbackDeploysTheLiveIntents(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	w.rollback(1)
	w.settle(prod)
	_, err := w.try(intent.Instantiate, prod, "")
	require.ErrorContains(t, err, "its intents, or documents that they depend on, have changed since", "they differ from what is deployed")

	require.Equal(t, int64(4), w.do(intent.Update, prod).Revision)
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "shop.lab.example")
	require.Equal(t, int64(4), w.do(intent.Update, prod).Revision, "now nothing has changed")
}

func TestPlanOfARollback(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	before := w.keys()
	plan, err := w.service.Plan(t.Context(), prod, intent.Rollback, 1)
	require.NoError(t, err)
	require.Equal(t, before, w.keys())
	require.Empty(t, plan.Errors)
	require.Equal(t, []intent.NameChange{
		{Name: "shop.lab.example", Type: "A", Record: "lab", Action: "delete", Targets: []string{"203.0.113.10", "203.0.113.20"}, Before: []string{"203.0.113.10", "203.0.113.20"}},
		{Name: "www.lab.example", Type: "A", Record: "lab", Action: "create", Targets: []string{"203.0.113.10", "203.0.113.20"}, Mark: "a-www.lab.example", AnsweredWithin: "6s", ClientsWithin: "5m7s"},
	}, plan.Names)
	_, err = w.service.Rollback(t.Context(), prod, 0, plan.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "another request than the one that was planned")

	w.put(corp, record("corp.example", `,"podLabels":{"a":"b"}`))
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["later.lab.example"]}`)
	accepted, err := w.service.Rollback(t.Context(), prod, 1, plan.Token, "ann")
	require.NoError(t, err, "live intents are not among its inputs")
	require.Equal(t, int64(3), accepted.Revision)
	_, err = w.service.Rollback(t.Context(), prod, 2, plan.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "the token is of an earlier state")
}

func TestRollbackIsJudgedByState(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.refusesRollback(0)
	w.do(intent.Instantiate, prod)
	w.refusesRollback(0, "there is no release before the current one; the kept releases are 1")
	w.refusesRollback(7, "there is no release 7; the kept releases are 1")
	w.settle(prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["stuck.lab.example"]}`)
	w.do(intent.Update, prod)
	require.Equal(t, intent.Updating, w.state(prod))
	w.rollback(1) // an update that gets nowhere is what it is for
	w.settle(prod)
	w.refusesRollback(9, "there is no release 9; the kept releases are 1, 2, 3")
	w.do(intent.Terminate, prod)
	require.Equal(t, intent.Terminating, w.state(prod))
	w.refusesRollback(1, "only a deployed release can be rolled back; instantiate it")
	w.outlive()
	require.Equal(t, intent.Terminated, w.state(prod))
	w.refusesRollback(1, "only a deployed release can be rolled back; instantiate it")
}

// TestOnlyTheLastRevisionsAreKept: ten besides the current one can be rolled back to.
// Of those before, the store has what is needed to free their names, and nothing
// when these are free.
func TestOnlyTheLastRevisionsAreKept(t *testing.T) {
	t.Parallel()
	w := running(t)
	for n := 2; n <= 13; n++ {
		w.rename(fmt.Sprintf("n%d.lab.example", n))
	}
	w.refusesRollback(2, "there is no release 2; the kept releases are 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")
	_, err := w.service.Rollback(t.Context(), prod, 2, "", "ann")
	require.ErrorContains(t, err, "prod cannot be rolled back; nothing was changed")
	require.Equal(t, int64(14), w.rollback(3).Revision)
	w.settle(prod)
	require.Contains(t, w.published(prod)[0], "n3.lab.example")
	require.Equal(t, 14, w.storedReleases(), "each has given a name up")
	w.outlive()
	require.Equal(t, 11, w.storedReleases())
	w.refusesRollback(3, "there is no release 3; the kept releases are 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14")
}

// storedReleases counts the releases in the store.
func (w *world) storedReleases() int {
	w.Helper()
	count := 0
	for key := range w.keys() {
		if len(key) > len("/signpost/release/") && key[:len("/signpost/release/")] == "/signpost/release/" {
			count++
		}
	}
	return count
}

// TestWhatARollbackNeedsAndIsGone: each is named, and nothing was changed.
func TestWhatARollbackNeedsAndIsGone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.corp.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]}]}`, eu)
	w.associate(eu, "lab")
	w.do(intent.Update, prod)
	w.outlive()
	w.settle(prod)
	require.NoError(t, w.delete(corp))
	require.NoError(t, w.delete(eu.Child("cluster-references", "paris")))
	require.NoError(t, w.delete("cluster-providers/edge/clusters/paris"))
	w.refusesRollback(1,
		"projects/shop/dns-update-records/corp#", "cluster-providers/edge/clusters/paris#", "revision 1 uses it, but it was deleted since")

	w.put(corp, record("corp.example", ``))
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed"}`)
	w.refusesRollback(1, "clusters/paris#", "records/corp#", "revision 1 uses an earlier document of this name")
	require.Equal(t, intent.Instantiated, w.state(prod))
}

// TestRollbackLeavesRecordsAsTheyAreDeployed: they are shared, and their own
// update is what changes them.
func TestRollbackLeavesRecordsAsTheyAreDeployed(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	w.put(lab, record("lab.example", `,"podLabels":{"tier":"two"}`))
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	w.rollback(1)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"tier":"two"`)

	w.put(lab, record("other.example", ``))
	_, err = w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	w.refusesRollback(2, "lab#/spec/external-dns-parameters/domain-filter", `the provider, as it is now, no longer covers "shop.lab.example"`)
}

// TestRollbackPinsWhatIsNotDeployedAnyMore: the record has moved while nobody
// used it, and the earlier revision follows it.
func TestRollbackPinsWhatIsNotDeployedAnyMore(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.corp.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	w.do(intent.Update, prod)
	w.outlive()
	w.put(corp, record("corp.example", `,"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
	w.rollback(1)
	w.outlive()
	w.settle(prod)
	require.Equal(t, []string{"edge+paris corp/public: www.corp.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
	require.NotEmpty(t, w.deployment(state.Use{Record: corp, Scope: intent.Public, Cluster: paris}))
	require.Empty(t, w.deployment(labOnHub), "nobody uses it any more")
}

// TestRollbackIntoWhatBelongsToOthersNow: neither the project's former
// namespace nor one that another project has taken.
func TestRollbackIntoWhatBelongsToOthersNow(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.rename("shop.lab.example")
	w.options.NamespaceHolder = func(_ context.Context, namespace string) (string, error) {
		return map[string]string{"shop": "bank"}[namespace], nil
	}
	w.service = release.New(w.options)
	w.refusesRollback(1, `namespace "shop" belongs to another project`)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["more.lab.example"]}`)
	w.refuses(intent.Update, prod, `namespace "shop" belongs to another project`)

	w.options.NamespaceHolder = nil
	w.service = release.New(w.options)
	w.put(shop, `{"namespace":"shop-two"}`)
	w.refusesRollback(1, `revision 1 was made for the project's namespace "shop-dns", which is "shop-two" now`)
}

// TestReleasesOfDeadRequestsAreSwept: but never one whose request may still be
// under way.
func TestReleasesOfDeadRequestsAreSwept(t *testing.T) {
	t.Parallel()
	w := running(t)
	l := &life{world: w, process: &mortal{KV: w.fake, last: 2, after: true}} // it has claimed its name, and written its release
	w.restartOn(l.process)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	_, err := w.try(intent.Update, prod, "")
	require.ErrorIs(t, err, errCrashed)
	w.restartOn(w.fake)
	require.Equal(t, 2, w.storedReleases())

	sweep := func() { require.NoError(t, w.service.Sweep(context.Background(), time.Minute)) }
	sweep()
	w.clock.pass(59 * time.Second)
	sweep()
	require.Equal(t, 2, w.storedReleases(), "its request may be under way")
	w.clock.pass(time.Second)
	sweep()
	require.Equal(t, 1, w.storedReleases())
	w.clock.pass(time.Hour)
	sweep()
	require.Equal(t, 1, w.storedReleases(), "what is current stays")
	w.settle(prod)
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
}
