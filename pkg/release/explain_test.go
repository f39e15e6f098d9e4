package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/explain"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// explainer is an Explainer with an index of the world as it is now.
func (w *world) explainer() *explain.Explainer {
	w.Helper()
	now := w.clock.Now()
	index := nameindex.New(func() time.Time { return now }) // so that it never gets too old to answer
	ctx, end := context.WithCancel(w.Context())
	defer end()
	feed := &nameindex.Feed{Store: w.service.Store, Index: index}
	go func() { _ = feed.Run(ctx) }()
	require.Eventually(w, func() bool {
		_, err := index.Owners("any.example")
		return err == nil
	}, 10*time.Second, time.Millisecond)
	return &explain.Explainer{Reader: w.service.Reader, Ownership: w.service.Registry, Index: index, Idle: func() bool { return false }}
}

// explained is what everybody may know of a host name.
func (w *world) explained(host string) intent.NameExplanation {
	w.Helper()
	out, err := w.explainer().ExplainName(w.Context(), host, func(string) bool { return true })
	require.NoError(w, err)
	return out
}

// answered has external-dns publish a name, and its servers answer it by a verdict.
func (w *world) answered(owner intent.Path, verdict, message string) {
	w.Helper()
	snap := w.snapshot(owner)
	g, b := snap.Group, snap.Group.Bindings[0]
	id := endpoints.ID(g, b)
	entry, _, err := w.ledger.Get(w.Context(), id)
	require.NoError(w, err)
	writer, err := w.observed.Writer(w.Context(), b.Cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetReachability(w.Context(), observed.Reachability{Reachable: true}))
	require.NoError(w, writer.SetDeployment(w.Context(), id.Namespace, "external-dns-lab", observed.Deployment{Available: true, Sync: &observed.Sync{}}))
	at := id.Namespace + "/" + id.Name
	require.NoError(w, writer.ChangePublished(w.Context(), map[string]*observed.Published{at: {UID: entry.UID, Generation: entry.Generation}}, map[string]bool{}))
	answers := &observed.Answers{}
	for n, host := range b.Hosts {
		for _, set := range snap.Choices[n][0].Sets {
			answers.Names = append(answers.Names, observed.NameAnswer{
				Name: host.Name, Type: set.Type, Targets: set.Targets, Verdict: verdict, Message: message, Answers: []intent.Answer{{Server: "192.0.2.53:53", Rcode: "NOERROR", Targets: set.Targets}},
			})
		}
	}
	require.NoError(w, writer.SetAnswers(w.Context(), map[string]*observed.Answers{at: answers}))
}

// TestANameIsExplainedOnOnePage: its owner, the release and the documents behind it, the
// source of each target, external-dns, the answers, and a sentence.
func TestANameIsExplainedOnOnePage(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	is := w.explained("bakery.lab.example")
	require.Contains(t, is.Summary, `It is not known whether bakery.lab.example of projects/shop/names/bakery.lab.example is published by provider "lab": external-dns cannot be observed on edge+hub`)

	w.answered(bakery, "Differs", "a server answers 203.0.113.9")
	is = w.explained("bakery.lab.example")
	require.Equal(t, `bakery.lab.example of projects/shop/names/bakery.lab.example is published by provider "lab", but its servers answer otherwise: a server answers 203.0.113.9.`, is.Summary)

	w.answered(bakery, "Matches", "the server answers them")
	is = w.explained("bakery.lab.example")
	require.Equal(t, `bakery.lab.example of projects/shop/names/bakery.lab.example is published by provider "lab", and its servers answer 203.0.113.11, 203.0.113.21.`, is.Summary)
	require.False(t, is.Others)
	require.Len(t, is.Owners, 1)
	owner := is.Owners[0]
	require.Equal(t, []any{bakery, "shop", intent.Instantiated, int64(1), "ann"}, []any{owner.Owner, owner.Project, owner.State, owner.Release, owner.Actor})
	require.Equal(t, []intent.NameSource{{Path: bakery, Revision: 1, Current: 1}}, owner.Documents)
	require.Equal(t, "status.loadBalancer.ingress[0].ip", owner.Records[0].Sources[0].Field)
	require.Equal(t, "192.0.2.53:53", owner.Records[0].Answers[0].Server)
	require.Equal(t, hub, owner.ExternalDNS[0].Cluster)
}

// TestANameOfAnIntentIsExplained by the DNS intent that lists it, and the revision of the
// intent that is deployed.
func TestANameOfAnIntentIsExplained(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":30}`)
	is := w.explained("www.lab.example")
	require.Equal(t, prod, is.Owners[0].Owner)
	require.Equal(t, []intent.NameSource{{Path: www(prod), Revision: 1, Current: 2}}, is.Owners[0].Documents)
}

// TestANameIsExplainedOnlyToWhoMayReadIt: others learn that it is taken, by the index or
// by the claim; and of a name that nobody publishes everybody learns that.
func TestANameIsExplainedOnlyToWhoMayReadIt(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	explainer := w.explainer()
	require.NoError(t, w.publish(bakery, ofFront)) // the index does not know it yet
	w.settle(bakery)
	for _, explainer := range []*explain.Explainer{explainer, w.explainer()} {
		is, err := explainer.ExplainName(t.Context(), "bakery.lab.example", func(project string) bool { return project == "garage" })
		require.NoError(t, err)
		require.Equal(t, intent.NameExplanation{Name: "bakery.lab.example", Summary: "bakery.lab.example is taken by another project.", Others: true, Owners: []intent.NameOwner{}}, is)
		is, err = explainer.ExplainName(t.Context(), "bakery.lab.example", func(string) bool { return true })
		require.NoError(t, err)
		require.Len(t, is.Owners, 1)
		_, err = explainer.ExplainName(t.Context(), "none.lab.example", func(string) bool { return true })
		require.Equal(t, intent.NotFound, intent.CodeOf(err))
	}
	stale := w.explainer()
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	is, err := stale.ExplainName(t.Context(), "bakery.lab.example", func(string) bool { return true })
	require.NoError(t, err)
	require.Equal(t, "bakery.lab.example belongs to projects/shop/names/bakery.lab.example, which is Terminating.", is.Summary)
	w.outlive()
	w.outlive()
	require.NoError(t, w.rest())
	_, err = stale.ExplainName(t.Context(), "bakery.lab.example", func(string) bool { return false })
	require.Equal(t, intent.NotFound, intent.CodeOf(err), "the owner's own state counts, and not the index")
}

// TestTheFleetShowsDrainedClusters beside what the index knows of them.
func TestTheFleetShowsDrainedClusters(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	require.NoError(t, w.service.Drain(t.Context(), "cluster-providers/edge/clusters/berlin", intent.DrainOptions{Actor: "ann"}))
	fleet, err := w.explainer().Fleet(t.Context(), intent.FleetQuery{Limit: 10, Sees: func(string) bool { return true }})
	require.NoError(t, err)
	drained := map[string]bool{}
	for _, item := range fleet.Items {
		if item.Kind == "cluster" {
			drained[item.Cluster] = item.Drained
		}
	}
	require.Equal(t, map[string]bool{hub: false, berlin: true, paris: false}, drained)
}

// TestANameSaysWhichOfItsClustersCannotBeReached: since when and why, when its address
// leaves, and that it has left. An address stays if no other cluster gives one, or if
// Signpost assumes a fault of its own network.
func TestANameSaysWhichOfItsClustersCannotBeReached(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.reachable(hub, paris)
	w.settle(bakery)
	outages := func() []intent.NameOutage { return w.explained("bakery.lab.example").Owners[0].Unreachable }
	require.Empty(t, outages())

	w.lost(berlin, 0)
	since := w.clock.Now()
	w.settle(bakery)
	leaves := since.Add(5 * time.Minute)
	require.Equal(t, []intent.NameOutage{{
		Cluster: berlin, Since: since, Message: "no answer in time", Targets: []string{"203.0.113.11"}, Leaves: &leaves,
		Effect: "203.0.113.11 leaves the name at " + leaves.Format(time.RFC3339) + ", unless the cluster answers before",
	}}, outages())

	w.clock.pass(5 * time.Minute)
	w.settle(bakery)
	is := outages()
	require.Len(t, is, 1)
	require.Equal(t, []any{[]string{}, (*time.Time)(nil)}, []any{is[0].Targets, is[0].Leaves})
	require.Equal(t, "203.0.113.11 has left the name, and comes back when the cluster answers", is[0].Effect)

	w.reachable(berlin)
	w.settle(bakery)
	w.lost(hub, 0)
	is = outages()
	require.Len(t, is, 1)
	require.Equal(t, hub, is[0].Cluster)
	require.Contains(t, is[0].Effect, "external-dns of the name runs there, so the name stays as it is until the cluster answers")

	w.lost(berlin, 0)
	is = outages()
	require.Len(t, is, 2)
	require.Nil(t, is[0].Leaves, "most clusters are away")
	require.Contains(t, is[0].Effect, "203.0.113.11 stays: 2 of 3 clusters cannot be reached")

	w.reachable(hub)
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":["edge/berlin"],"provider":"lab"}`))
	w.settle(bakery)
	is = outages()
	require.Len(t, is, 1)
	require.Nil(t, is[0].Leaves, "it is the only one")
	require.Contains(t, is[0].Effect, "203.0.113.11 stays: no other cluster of the name is known to be healthy")
}

// TestANameOfAClusterThatWasNeverReachedHasNoAddress until the cluster answers: it is the
// reason, so nothing says that no answer changes.
func TestANameOfAClusterThatWasNeverReachedHasNoAddress(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, `{"service":"shop/other","clusters":["edge/berlin"],"provider":"lab"}`))
	w.settle(bakery)
	w.reachable(hub, paris)
	w.lost(berlin, 0)
	is := w.explained("bakery.lab.example").Owners[0].Unreachable
	require.Len(t, is, 1)
	require.Equal(t, "the name has no address until the cluster answers", is[0].Effect)

	require.NoError(t, w.publish(bakery, `{"service":"shop/other","clusters":["edge/berlin","edge/paris"],"provider":"lab"}`))
	w.observe(paris, "shop/other", "203.0.113.22")
	w.settle(bakery)
	is = w.explained("bakery.lab.example").Owners[0].Unreachable
	require.Len(t, is, 1)
	require.Equal(t, "the addresses there are not known until the cluster answers", is[0].Effect)
}

// TestTheTimeOfAnOutageDoesNotCountWhileNobodyLooks, and the name says so.
func TestTheTimeOfAnOutageDoesNotCountWhileNobodyLooks(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.reachable(hub, paris)
	w.settle(bakery)
	w.lost(berlin, 0)
	_, _, err := w.fake.Txn(t.Context(), nil, kv.Delete(ledger.WorkerPrefix+berlin))
	require.NoError(t, err)
	w.clock.pass(time.Hour)
	is := w.explained("bakery.lab.example").Owners[0].Unreachable
	require.Len(t, is, 1)
	require.Nil(t, is[0].Leaves)
	require.Equal(t, "203.0.113.11 stays: no worker serves the cluster, so that the time does not count until one does", is[0].Effect)
}
