package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const (
	listedInCloud intent.Path = "projects/shop/logical-clouds/us"
	paris         intent.Path = "cluster-providers/edge/clusters/paris"
)

// labListing is the spec of a provider with more fields.
func labListing(more string) string {
	return `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},` + more + `}`
}

// TestListsOfClustersAreReferences: what a list names must exist and admit the project,
// and stays as long as it is listed.
func TestListsOfClustersAreReferences(t *testing.T) {
	refused(t, []refusal{
		{reason: "clusters of a logical cloud that cannot be", path: listedInCloud, spec: `{"clusters":["edge","edge/paris","edge/paris","edge+hub"]}`, errors: map[string]string{
			"/spec/clusters/0": "write it as provider/cluster", "/spec/clusters/2": "given twice", "/spec/clusters/3": "write it as provider/cluster",
		}},
		{reason: "clusters of a logical cloud that are not there or another project's", path: listedInCloud, code: intent.Conflict, spec: `{"clusters":["edge/rome","edge/private"]}`,
			errors: map[string]string{"/spec/clusters/0": "edge/clusters/rome, which does not exist", "/spec/clusters/1": "does not allow project shop"}},
		{reason: "lists of a provider that cannot be", path: lab, spec: labListing(`"logicalClouds":["eu","eu","!"],"clusters":["hub"]`), errors: map[string]string{
			"/spec/logicalClouds/1": "given twice", "/spec/logicalClouds/2": "not a name of a logical cloud", "/spec/clusters/0": "write it as provider/cluster",
		}},
		{reason: "lists of a provider that name nothing", path: lab, code: intent.Conflict, spec: labListing(`"logicalClouds":["mars"],"clusters":["edge/private"]`),
			errors: map[string]string{"/spec/logicalClouds/0": "logical-clouds/mars, which does not exist", "/spec/clusters/0": "does not allow project shop"}},
	})
	w := newShop(t)
	w.must(listedInCloud, `{"clusters":["edge/paris"]}`)
	w.must(lab, labListing(`"logicalClouds":["us"],"clusters":["edge/hub"]`))
	for path, by := range map[intent.Path]intent.Path{paris: listedInCloud, listedInCloud: lab, hub: lab} {
		require.ErrorContains(t, w.admitter.Delete(t.Context(), path, intent.Always()), string(path)+" is referenced by "+string(by))
	}
	_, err := w.admit(paris, `{"projects":["other"]}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/projects": "leaves out project shop, whose projects/shop/logical-clouds/us"})
	own := intent.As(t.Context(), intent.Actor{Subject: "emil", Confined: true})
	_, err = w.admitter.Admit(own, lab, body(lab, labListing(`"clusters":["edge/hub","edge/paris"]`)), w.old(lab))
	assertFields(t, err, intent.Forbidden, map[string]string{"/spec/clusters": "associates the provider with clusters"})
	w.must(lab, labListing(`"clusters":[]`))
	require.NoError(t, w.admitter.Delete(t.Context(), listedInCloud, intent.Always()))
	require.NoError(t, w.admitter.Delete(t.Context(), paris, intent.Always()))
}

// TestAListedClusterThatIsNamedStays: like a cluster reference, it cannot go while an app
// or a DNS CR intent names it.
func TestAListedClusterThatIsNamedStays(t *testing.T) {
	w := newShop(t)
	w.must(listedInCloud, `{"clusters":["edge/paris","edge/hub"]}`)
	dns := listedInCloud.Child("dns-cr-intents", "resolvers")
	w.must(prod, `{"logicalCloud":"us","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`)
	w.must(dns, `{"clusters":[{"clusterProvider":"edge","cluster":"hub"}]}`)
	_, err := w.admit(listedInCloud, `{}`)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	for _, part := range []string{"/spec/clusters: leaves out edge+paris, which " + string(prod) + " names", "leaves out edge+hub, which " + string(dns) + " names"} {
		require.ErrorContains(t, err, part)
	}
	w.must(prod, `{"logicalCloud":"us","apps":[{"name":"web"}]}`)
	w.must(dns, `{}`)
	w.must(listedInCloud, `{"clusters":["edge/berlin"]}`)
	_, err = w.admit(prod, `{"logicalCloud":"us","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/apps/0/clusters/0": "its clusters are: edge+berlin"})
}

// TestAMisspelledAssociationIsWarnedOf, with the name that it should have.
func TestAMisspelledAssociationIsWarnedOf(t *testing.T) {
	w := newShop(t)
	for name, warned := range map[string]bool{"dns-update-record-lst": true, "DNS-Update-Record-List": true, intent.AssociationName: false, "settings": false} {
		for _, owner := range []intent.Path{eu, hub} {
			path := owner.Child("kv-pairs", name)
			w.must(path, `{"kv":[{"key1":"lab"}]}`)
			if got := w.shown(path); warned {
				require.Contains(t, got, `\"`+name+`\" associates no providers; if it is to do so, call it dns-update-record-list`)
			} else {
				require.NotContains(t, got, "status")
			}
		}
	}
}

// TestProvidersThatListALogicalCloudAreJudgedForWeights, as those that its KV pairs name.
func TestProvidersThatListALogicalCloudAreJudgedForWeights(t *testing.T) {
	weighted := routed(`{"policy":"weighted","weights":{"edge+berlin":90}}`, ``)
	w := newShop(t)
	w.must("projects/shop/dns-update-records/bind", `{"provider":"rfc2136","logicalClouds":["eu"]}`)
	_, err := w.admit(www, weighted)
	require.ErrorContains(t, err, "no provider of the intent has them: bind (rfc2136)")
	w.must("projects/shop/dns-update-records/zone", `{"provider":"aws","logicalClouds":["eu"]}`)
	_, err = w.admit(www, weighted)
	require.NoError(t, err)
}

// TestTheDefaultTrafficGroupIsMadeWithItsFirstIntent, not for an intent that is refused,
// and goes with its deployment intent group.
func TestTheDefaultTrafficGroupIsMadeWithItsFirstIntent(t *testing.T) {
	w := newShop(t)
	traffic := intent.DefaultTrafficGroup(prod)
	path := traffic.Child("dns-intents", "www")
	_, err := w.admit(path, `{"app":"wbe","serviceName":"web","hostnames":["www.lab.example"]}`)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	_, err = w.admit(intent.Path(strings.Replace(string(path), "/prod/", "/none/", 1)), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	require.ErrorContains(t, err, "deployment-intent-groups/none does not exist")
	require.Nil(t, w.old(traffic))

	const valid = `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"records":["lab"]}`
	doomed, err := w.admit(path, valid)
	require.NoError(t, err)
	require.NoError(t, w.admitter.Delete(t.Context(), lab, intent.Always()))
	_, err = w.admitter.Put(t.Context(), doomed)
	require.ErrorContains(t, err, "dns-update-records/lab, which does not exist")
	require.Nil(t, w.old(traffic), "nothing is left of an intent that could not be stored")

	const free = `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`
	require.EqualValues(t, 1, w.must(path, free).Revision)
	require.EqualValues(t, 2, w.must(path, valid[:len(free)-1]+`,"ttl":30}`).Revision)
	require.NoError(t, w.admitter.Delete(t.Context(), front, intent.Always()))
	require.ErrorContains(t, w.admitter.Delete(t.Context(), prod, intent.Always()), "is referenced by "+string(traffic))
	require.NoError(t, w.admitter.Delete(t.Context(), path, intent.Always()))
	require.NoError(t, w.admitter.Delete(t.Context(), prod, intent.Always()))
	require.Nil(t, w.old(traffic))
}

// TestACrashWhileTheDefaultTrafficGroupIsMadeLosesNothing: before each write the process
// dies. What is left has no effect: the intent can be given again, and without it the
// deployment intent group can be deleted.
func TestACrashWhileTheDefaultTrafficGroupIsMadeLosesNothing(t *testing.T) {
	path := intent.DefaultTrafficGroup(prod).Child("dns-intents", "www")
	const valid = `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`
	for last := 1; ; last++ {
		fake := kvtest.NewFake()
		w := newShopOn(t, etcd.New(fake))
		write, err := w.admit(path, valid)
		require.NoError(t, err)
		writes := 0
		fake.Before = func(op, _ string) error {
			if op == "txn" {
				writes++
			}
			if writes >= last {
				return &intent.Error{Code: intent.Unavailable, Detail: "the process is dead"}
			}
			return nil
		}
		_, err = w.admitter.Put(t.Context(), write)
		fake.Before = nil
		if writes < last {
			require.NoError(t, err)
			require.Greater(t, last, 2, "it makes two documents")
			return
		}
		require.Equal(t, intent.Unavailable, intent.CodeOf(err))
		require.Nil(t, w.old(path))
		require.EqualValues(t, 1, w.must(path, valid).Revision)
		require.NoError(t, w.admitter.Delete(t.Context(), path, intent.Always()))
		require.NoError(t, w.admitter.Delete(t.Context(), front, intent.Always()))
		require.NoError(t, w.admitter.Delete(t.Context(), prod, intent.Always()))
	}
}

// TestAWrittenDefaultTrafficGroupStays: it is its author's to delete.
func TestAWrittenDefaultTrafficGroupStays(t *testing.T) {
	w := newShop(t)
	traffic := intent.DefaultTrafficGroup(prod)
	w.must(traffic, `{}`)
	require.NoError(t, w.admitter.Delete(t.Context(), front, intent.Always()))
	require.ErrorContains(t, w.admitter.Delete(t.Context(), prod, intent.Always()), "is referenced by "+string(traffic))
	w.must(traffic.Child("dns-intents", "www"), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	require.NotContains(t, w.shown(traffic), "without a traffic group")
}
