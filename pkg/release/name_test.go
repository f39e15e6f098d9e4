package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// bakery is a name of the main story's project, and ofFront leads to a Service of the edges.
const (
	bakery  = intent.Path("projects/shop/names/bakery.lab.example")
	ofFront = `{"service":"shop/front","clusters":["edge/berlin","edge/paris"],"provider":"lab"}`
)

// newNames is the main story's world, in which the provider says where it lives, and
// the edges offer another Service.
func newNames(t testing.TB) *world {
	w := newShop(t)
	w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`))
	w.observe(berlin, "shop/front", "203.0.113.11")
	w.observe(paris, "shop/front", "203.0.113.21")
	return w
}

// request is what the API makes of a PUT with a spec.
func (w *world) request(name intent.Path, spec string) intent.NameRequest {
	w.Helper()
	body := json.RawMessage(fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name.Name(), spec))
	now := w.clock.Now()
	next := intent.NameDocument{UID: "uid-of-" + name.Name(), Revision: 1, CreatedAt: now, UpdatedAt: now, Body: body}
	was, err := names.New(w.documents).Get(context.Background(), name)
	if intent.CodeOf(err) == intent.NotFound {
		return intent.NameRequest{Next: next, Actor: "ann"}
	}
	require.NoError(w, err)
	next.UID, next.Revision, next.CreatedAt = was.UID, was.Revision+1, was.CreatedAt
	if string(was.Body) == string(body) {
		next.Revision, next.UpdatedAt = was.Revision, was.UpdatedAt
	}
	return intent.NameRequest{Next: next, Was: &was, Actor: "ann"}
}

func (w *world) publish(name intent.Path, spec string) error {
	w.Helper()
	_, err := w.service.PublishName(ann(name), name, w.request(name, spec))
	return err
}

// TestANameIsPublishedByOneDocument from its acceptance until it is deleted, and
// leaves nothing behind.
func TestANameIsPublishedByOneDocument(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.21"}, w.published(bakery))
	require.Equal(t, map[string]string{"bakery.lab.example": "shop"}, w.claims())
	require.Equal(t, intent.Instantiated, w.state(bakery))

	w.observe(paris, "shop/front", "203.0.113.22")
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.22"}, w.published(bakery))

	before := w.snapshot(bakery).Lifecycle
	require.NoError(t, w.publish(bakery, ofFront))
	require.Equal(t, before.Seq, w.snapshot(bakery).Lifecycle.Seq, "the same document changes nothing")

	require.NoError(t, w.publish(bakery, `{"addresses":["203.0.113.99","2001:db8::99"],"provider":"lab","ttl":30}`))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.99", "edge+hub lab/public: bakery.lab.example AAAA 2001:db8::99"}, w.published(bakery))
	require.NoError(t, w.publish(bakery, `{"cname":"www.bank.example","provider":"lab"}`))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example CNAME www.bank.example"}, w.published(bakery))

	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.Equal(t, intent.Terminating, w.state(bakery))
	w.outlive()
	w.outlive()
	require.NoError(t, w.rest())
	_, err = w.documents.Get(t.Context(), state.LifecyclePath(bakery))
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	require.Empty(t, w.claims())
	require.NoError(t, w.contexts.Sweep(t.Context(), 0))
	w.clock.pass(guard.Window + time.Second) // so long, its removal counts with others
	require.NoError(t, w.service.Sweep(t.Context(), time.Hour))
	items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/"})
	require.NoError(t, err)
	for _, item := range items {
		require.NotContains(t, item.Key, "bakery", "nothing is kept of it")
	}
}

// TestALateWriteDoesNotBringADeletedNameBack: the first write of its lifecycle comes once more when
// the name is gone, because nobody waited for the answer to the first try.
func TestALateWriteDoesNotBringADeletedNameBack(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	first, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/doc/lifecycle//" + string(bakery)})
	require.NoError(t, err)
	require.Len(t, first, 1)
	_, err = w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	w.outlive()
	require.NoError(t, w.rest())
	_, err = w.documents.Get(t.Context(), state.LifecyclePath(bakery))
	require.Equal(t, intent.NotFound, intent.CodeOf(err))

	_, _, err = w.fake.Txn(t.Context(), nil, kv.Put(first[0].Key, first[0].Value))
	require.NoError(t, err)
	require.NoError(t, w.rest())
	_, err = w.documents.Get(t.Context(), state.LifecyclePath(bakery))
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	require.Empty(t, w.published(bakery))
	require.Empty(t, w.claims())
	require.NoError(t, w.publish(bakery, ofFront), "it can be published anew")
	w.settle(bakery)
	require.Equal(t, intent.Instantiated, w.state(bakery))
}

// TestANameThatTurnsToAnotherServiceIsNeverEmpty: it keeps the addresses that it has
// until a cluster was seen to have the Service, or not to have it.
func TestANameThatTurnsToAnotherServiceIsNeverEmpty(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	require.NoError(t, w.publish(bakery, strings.Replace(ofFront, "front", "oven", 1)))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.21"}, w.published(bakery), "nobody has looked for the Service")
	w.observe(berlin, "shop/oven", "203.0.113.12")
	w.observe(paris, "shop/oven")
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.12"}, w.published(bakery))
}

// TestANameThatComesBackWhileItGoes keeps its document, and is published again.
func TestANameThatComesBackWhileItGoes(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(bakery))
	require.NoError(t, w.publish(bakery, ofFront))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.21"}, w.published(bakery))
}

// TestAHostHasOneOwner: neither a name nor an intent of the project gets what the
// other gives, but by a takeover, which leaves no gap.
func TestAHostHasOneOwner(t *testing.T) {
	t.Parallel()
	const www intent.Path = "projects/shop/names/www.lab.example"
	w := newNames(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	err := w.publish(www, ofFront)
	require.ErrorContains(t, err, `"www.lab.example" is given by `+string(prod))
	require.ErrorContains(t, err, "?takeover=store/v1/prod")

	r := w.request(www, ofFront)
	r.Takeover = "store/v1/prod"
	_, err = w.service.PublishName(ann(www), www, r)
	require.NoError(t, err)
	w.settle(prod, www)
	w.settle(prod, www)
	require.Empty(t, w.published(prod))
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.21"}, w.published(www))

	require.ErrorContains(t, w.takeOver(prod, intent.Update, "names/other.lab.example"), "does not exist")
	require.NoError(t, w.takeOver(prod, intent.Update, "names/www.lab.example"))
	w.settle(prod)
	w.outlive()
	w.outlive()
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
	_, err = w.service.Documents.Get(t.Context(), www)
	require.Equal(t, intent.NotFound, intent.CodeOf(err), "a name that was taken over has no document")
	require.Equal(t, map[string]string{"www.lab.example": "shop"}, w.claims())
}

// TestANameOfAnotherProjectIsRefused without a word of whose it is. Nothing is stored then,
// not even by a takeover. Once the other project has let it go, it is free.
func TestANameOfAnotherProjectIsRefused(t *testing.T) {
	t.Parallel()
	const ours, theirs intent.Path = "projects/shop/names/cake.lab.example", "projects/bank/names/cake.lab.example"
	const fixed = `{"provider":"lab","addresses":["203.0.113.7"]}`
	w := rivals(t)
	home := `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`
	w.put(lab, record("lab.example", home))
	w.put(bankLab, record("lab.example", home))
	require.NoError(t, w.publish(ours, fixed))
	w.settle(ours)
	before := w.keys()
	for _, takeover := range []string{"", string(ours)} {
		r := w.request(theirs, fixed)
		r.Takeover = takeover
		_, err := w.service.PublishName(ann(theirs), theirs, r)
		require.ErrorContains(t, err, "belongs to another project")
		if takeover == "" {
			require.NotContains(t, err.Error(), "shop")
		}
		require.Equal(t, before, w.keys())
	}
	require.ErrorContains(t, w.publish("projects/bank/names/_sip._tcp.cake.lab.example", `{"provider":"lab","cname":"sip.bank.example"}`),
		"_sip._tcp.cake.lab.example tells of a service of cake.lab.example, which belongs to another project")
	require.Equal(t, before, w.keys())
	_, err := w.service.UnpublishName(ann(ours), ours, intent.NameRequest{Actor: "ann"})
	require.NoError(t, err)
	require.ErrorContains(t, w.publish(theirs, fixed), "belongs to another project", "it is still in DNS")
	w.outlive()
	require.NoError(t, w.publish(theirs, fixed))
	w.settle(theirs)
	require.Equal(t, map[string]string{"cake.lab.example": "bank"}, w.claims())
}

// TestANameOfClustersNeedsAProviderThatServesThem, because an association is what
// administrators of all projects allow.
func TestANameOfClustersNeedsAProviderThatServesThem(t *testing.T) {
	t.Parallel()
	const inClusters = `{"service":"shop/front","clusters":["edge/berlin"],"provider":"lab","scope":"cluster"}`
	w := newNames(t)
	err := w.publish(bakery, inClusters)
	require.ErrorContains(t, err, `provider "lab" is not associated with edge+berlin`)
	require.ErrorContains(t, err, "spec.clusters of the provider")
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":{"selector":{}},"provider":"lab","scope":"cluster"}`), "a selector may meet others")
	w.settle(bakery)
	require.Empty(t, w.published(bakery))

	w.put("cluster-providers/edge/clusters/berlin/kv-pairs/dns-update-record-list", `{"kv":[{"one":"shop/lab"}]}`)
	require.NoError(t, w.publish(bakery, inClusters))
	w.settle(bakery)
	require.Equal(t, []string{"edge+berlin lab/cluster: bakery.lab.example A 203.0.113.11"}, w.published(bakery))

	w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"},"clusters":["edge/paris"]`))
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":["edge/berlin","edge/paris"],"provider":"lab","scope":"cluster"}`))
	w.settle(bakery)
	require.Len(t, w.published(bakery), 2)
}

// TestNamesThatAreDeletedOneByOneCountTogether against maxRemoval.
func TestNamesThatAreDeletedOneByOneCountTogether(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	var all []intent.Path
	for n := range 10 {
		all = append(all, intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n)))
		require.NoError(t, w.publish(all[n], ofFront))
	}
	w.settle(all...)
	gone := 0
	for _, name := range all {
		_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
		if err != nil {
			require.ErrorContains(t, err, `more than 25 % of the names of provider "lab" would go`)
			continue
		}
		gone++
		require.NoError(t, w.rest())
	}
	require.Equal(t, 5, gone)
	_, err := w.service.UnpublishName(ann(all[9]), all[9], intent.NameRequest{Confirm: w.plan(all[9], intent.Terminate).Token})
	require.NoError(t, err)
}

// TestACrashAtAnyWriteOfANameLosesNothing: what was answered is there, and what was
// not is there whole or not at all.
func TestACrashAtAnyWriteOfANameLosesNothing(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			w := newNames(t)
			writes, crashed := 0, false
			crash := func(op, _ string) error {
				if op != "txn" || crashed {
					return nil
				}
				writes++
				if writes == at {
					crashed = true
					return errCrashed
				}
				return nil
			}
			if after {
				w.fake.After = crash
			} else {
				w.fake.Before = crash
			}
			err := w.publish(bakery, ofFront)
			w.fake.Before, w.fake.After = nil, nil
			w.restartOn(w.fake)
			require.NoError(t, w.rest())
			_, read := w.service.Documents.Get(t.Context(), bakery)
			there := read == nil
			require.True(t, err != nil || there, "write %d: it was acknowledged", at)
			require.Equal(t, there, len(w.published(bakery)) > 0, "write %d: the document and its release", at)
			require.NoError(t, w.publish(bakery, ofFront), "write %d", at)
			w.settle(bakery)
			require.Len(t, w.published(bakery), 1)
			if !crashed {
				require.Greater(t, at, 3)
				break
			}
		}
	}
}

// TestANameFollowsClustersByTheirLabels: those that get them are in, those that lose
// them, or go, are out, and nothing refuses that they go.
func TestANameFollowsClustersByTheirLabels(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	label := func(cluster, region string) {
		w.put(intent.Join("cluster-providers/edge/clusters", cluster), fmt.Sprintf(`{"kubeconfigRef":"sealed","labels":{"region":%q}}`, region))
		w.clock.pass(3 * time.Second) // clusters are remembered for a moment
	}
	follow := func() []string {
		w.settle(bakery)
		return w.published(bakery)
	}
	label("berlin", "eu")
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":{"selector":{"region":"eu"}},"provider":"lab"}`))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11"}, w.published(bakery))
	revision := w.snapshot(bakery).Lifecycle.Name.Revision

	label("paris", "eu")
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.21"}, follow())
	label("berlin", "us")
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.21"}, follow())
	require.Equal(t, revision, w.snapshot(bakery).Lifecycle.Name.Revision, "the user's document is as it was")
	label("berlin", "eu")
	follow()
	require.NoError(t, w.delete(eu.Child("cluster-references", "berlin")))
	require.NoError(t, w.delete("cluster-providers/edge/clusters/berlin"))
	w.clock.pass(3 * time.Second)
	require.Equal(t, []string{"edge+hub lab/public: bakery.lab.example A 203.0.113.21"}, follow())
	before := w.snapshot(bakery).Lifecycle.Seq
	follow()
	require.Equal(t, before, w.snapshot(bakery).Lifecycle.Seq)
}

// TestLabelsThatChangeBeforeANameIsInItsClustersAreFollowed by the step after the one that finds it there: nobody else
// would wake the name.
func TestLabelsThatChangeBeforeANameIsInItsClustersAreFollowed(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	label := func(cluster string) {
		w.put(intent.Join("cluster-providers/edge/clusters", cluster), `{"kubeconfigRef":"sealed","labels":{"region":"eu"}}`)
		w.clock.pass(3 * time.Second) // clusters are remembered for a moment
	}
	label("berlin")
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":{"selector":{"region":"eu"}},"provider":"lab"}`))
	require.NoError(t, w.step(bakery))
	label("paris")
	settled := false
	for w.state(bakery) != intent.Instantiated {
		var err error
		w.applyAll()
		settled, err = w.stepped(bakery)
		require.NoError(t, err)
	}
	require.False(t, settled)
	require.NoError(t, w.step(bakery))
	w.settle(bakery)
	require.True(t, w.publishes(bakery, "203.0.113.21"))
}

// TestLabelsThatHaveJustChangedAreFollowed though the clusters were looked at a moment ago:
// no later change would wake the name. The world's clock stands still.
func TestLabelsThatHaveJustChangedAreFollowed(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.watched(w.fake, etcd.New(w.fake).WatchAll)
	w.control(t)
	label := func(cluster string) {
		w.put(intent.Join("cluster-providers/edge/clusters", cluster), `{"kubeconfigRef":"sealed","labels":{"region":"eu"}}`)
	}
	label("berlin")
	require.NoError(t, w.publish(bakery, `{"service":"shop/front","clusters":{"selector":{"region":"eu"}},"provider":"lab"}`))
	until(t, "the name is published", func() bool {
		w.applyAll()
		return w.state(bakery) == intent.Instantiated && w.publishes(bakery, "203.0.113.11")
	})
	label("paris")
	until(t, "the other cluster is chosen, too", func() bool { return w.publishes(bakery, "203.0.113.21") })
}

// TestANameSaysWhatItCannotSee: labels that no cluster has, and clusters without live
// Services.
func TestANameSaysWhatItCannotSee(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	plan := func(clusters string) intent.Plan {
		planned, err := w.service.PlanName(ann(bakery), bakery, w.request(bakery, `{"service":"shop/front","clusters":`+clusters+`,"provider":"lab"}`))
		require.NoError(t, err)
		return planned
	}
	w.put(parisCluster, `{"directory":"paris","labels":{"region":"eu"}}`)
	require.Contains(t, plan(`{"selector":{"region":"asia"}}`).Warnings,
		"no cluster has the labels of the selector: the name has no addresses until one does; clusters have the labels region=eu")
	require.Contains(t, fmt.Sprint(plan(`{"selector":{"region":"eu"}}`).Warnings), "edge+paris is a directory")
	refused := plan(`["edge/berlin","edge/paris"]`).Errors
	require.Len(t, refused, 1)
	require.Contains(t, refused[0].Detail, "edge+paris is a directory, in which Services cannot be seen; choose clusters with a kubeconfig")
}

// TestANewProviderPublishesBeforeTheOldOneLeaves: the old one stays while the new home is
// away, and until external-dns has put the new DNSEndpoint through, but no longer than the
// new provider's releaseTimeout.
func TestANewProviderPublishesBeforeTheOldOneLeaves(t *testing.T) {
	t.Parallel()
	const (
		old = "edge+hub lab/public: bakery.lab.example A 203.0.113.11,203.0.113.21"
		now = "edge+paris spare/public: bakery.lab.example A 203.0.113.11,203.0.113.21"
	)
	for _, put := range []bool{true, false} {
		w := newNames(t)
		w.put("projects/shop/dns-update-records/spare", record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"paris"},"releaseTimeout":"90s"`))
		require.NoError(t, w.publish(bakery, ofFront))
		w.settle(bakery)
		require.Equal(t, []string{old}, w.published(bakery))

		w.down[paris] = true
		plan, err := w.service.PlanName(ann(bakery), bakery, w.request(bakery, strings.Replace(ofFront, `"lab"`, `"spare"`, 1)))
		require.NoError(t, err)
		require.Contains(t, plan.Warnings, `the name may leave DNS for a moment: if "spare" writes to the zone of "lab", `+
			`it waits until "lab" has removed the name. To move the external-dns of a provider without a gap, change its deployOn instead`)
		require.NoError(t, w.publish(bakery, strings.Replace(ofFront, `"lab"`, `"spare"`, 1)))
		require.NoError(t, w.rest())
		w.clock.pass(time.Hour)
		require.NoError(t, w.rest())
		require.Equal(t, []string{old, now}, w.published(bakery), "nobody can apply the new one")

		delete(w.down, paris)
		require.NoError(t, w.rest())
		require.Equal(t, intent.Instantiated, w.state(bakery))
		require.Equal(t, []string{old, now}, w.published(bakery), "external-dns has not put it through")
		require.True(t, w.holds(hub, "Deployment", "external-dns-lab"))

		if put {
			w.putThrough(paris)
		} else {
			w.clock.pass(91 * time.Second)
		}
		require.NoError(t, w.rest())
		require.Equal(t, []string{now}, w.published(bakery))
		w.outlive()
		w.settle(bakery)
		require.False(t, w.holds(hub, "Deployment", "external-dns-lab"))
		require.Equal(t, map[string]string{"bakery.lab.example": "shop"}, w.claims())
	}
}

// TestThePlanOfANameThatLeavesAProviderKeepsWhatBothHave: the last name of one external-dns goes to another one on the same
// cluster, which stays as it is. Both have the namespace of the project.
func TestThePlanOfANameThatLeavesAProviderKeepsWhatBothHave(t *testing.T) {
	t.Parallel()
	const other = intent.Path("projects/shop/names/other.lab.example")
	w := newNames(t)
	w.put("projects/shop/dns-update-records/spare", record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`))
	require.NoError(t, w.publish(other, strings.Replace(ofFront, `"lab"`, `"spare"`, 1)))
	require.NoError(t, w.publish(bakery, ofFront))
	require.NoError(t, w.rest())
	stays, err := w.service.PlanName(ann(bakery), bakery, w.request(bakery, strings.Replace(ofFront, `"provider"`, `"ttl":60,"provider"`, 1)))
	require.NoError(t, err)
	require.Len(t, stays.Objects, 1, "an external-dns that stays is left out")
	require.Equal(t, "DNSEndpoint", stays.Objects[0].Kind)

	leaves, err := w.service.PlanName(ann(bakery), bakery, w.request(bakery, strings.Replace(ofFront, `"lab"`, `"spare"`, 1)))
	require.NoError(t, err)
	gone := map[string]bool{}
	for _, o := range leaves.Objects {
		gone[o.Kind+" "+o.Name] = o.Action == "delete"
	}
	require.True(t, gone["Deployment external-dns-lab"])
	require.Contains(t, gone, "Namespace shop-dns")
	require.False(t, gone["Namespace shop-dns"], "the other external-dns has it, too")
}

// putThrough notes that external-dns has put the DNSEndpoints of a cluster through.
func (w *world) putThrough(cluster string) {
	w.Helper()
	entries, err := w.ledger.Cluster(context.Background(), cluster)
	require.NoError(w, err)
	known := map[string]*observed.Published{}
	for _, e := range entries {
		if e.ID.IsEndpoint() {
			known[e.ID.Namespace+"/"+e.ID.Name] = &observed.Published{UID: e.UID, Generation: e.Generation, At: w.clock.Now()}
		}
	}
	require.NotEmpty(w, known)
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.ChangePublished(context.Background(), known, map[string]bool{}))
}

// TestANameHasRecordsOfOtherTypes beside its addresses or alone, if its provider keeps
// them.
func TestANameHasRecordsOfOtherTypes(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	const aws = `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"],"interval":"5s","policy":"sync"%s},"releaseTimeout":"70s","deployOn":{"clusterProvider":"edge","cluster":"hub"}}`
	w.put("projects/shop/dns-update-records/cloud", fmt.Sprintf(aws, ``))
	const mail = `{"provider":"cloud","ttl":60,"records":[{"type":"TXT","values":["v=spf1 -all"],"ttl":900},{"type":"MX","values":["20 b.example","10 a.example"]}]%s}`
	require.ErrorContains(t, w.publish(bakery, fmt.Sprintf(mail, ``)), "ignores TXT records; set managed-record-types")
	require.ErrorContains(t, w.publish(bakery, `{"provider":"lab","records":[{"type":"MX","values":["10 a.example"]}]}`), "does not keep MX records for coredns")

	w.put("projects/shop/dns-update-records/cloud", fmt.Sprintf(aws, `,"managed-record-types":["A","AAAA","CNAME","MX","TXT"]`))
	require.NoError(t, w.publish(bakery, fmt.Sprintf(mail, ``)))
	w.settle(bakery)
	require.Equal(t, []string{"edge+hub cloud/public: bakery.lab.example MX 10 a.example,20 b.example", `edge+hub cloud/public: bakery.lab.example TXT "v=spf1 -all"`}, w.published(bakery))
	require.NoError(t, w.publish(bakery, fmt.Sprintf(mail, `,"addresses":["203.0.113.99"]`)))
	w.settle(bakery)
	require.Contains(t, w.published(bakery), "edge+hub cloud/public: bakery.lab.example A 203.0.113.99")
	require.Len(t, w.published(bakery), 3)
}

// TestThePublisherInsideWritesMoreTypes than external-dns keeps, for rfc2136 alone.
func TestThePublisherInsideWritesMoreTypes(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	const rfc2136 = `{"provider":"rfc2136","external-dns-parameters":{"domain-filter":["lab.example"],"rfc2136-host":["192.0.2.53"],"rfc2136-zone":["lab.example"],"rfc2136-insecure":true},"deployOn":%s}`
	const caa = `{"provider":"zone","records":[{"type":"CAA","values":["0 issue \"ca.example\""]},{"type":"TXT","values":["v=spf1 -all"]}]}`
	w.put("projects/shop/dns-update-records/zone", fmt.Sprintf(rfc2136, `{"clusterProvider":"edge","cluster":"hub"}`))
	require.ErrorContains(t, w.publish(bakery, caa), "does not keep CAA records for rfc2136")
	require.ErrorContains(t, w.publish(bakery, caa), "the built-in publisher writes them for rfc2136")
	w.put("projects/shop/dns-update-records/zone", fmt.Sprintf(rfc2136, `{"publisher":"built-in"}`))
	require.ErrorContains(t, w.publish(bakery, `{"provider":"zone","records":[{"type":"NS","values":["ns.lab.example"]}]}`), "writes no NS records; external-dns v0.22")
	require.NoError(t, w.publish(bakery, caa))
	w.settle(bakery)
	require.Equal(t, []string{`_publisher.shop+zone zone/public: bakery.lab.example CAA 0 issue "ca.example"`, `_publisher.shop+zone zone/public: bakery.lab.example TXT "v=spf1 -all"`}, w.published(bakery))
}
