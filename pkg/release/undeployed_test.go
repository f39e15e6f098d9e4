package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// undeployedOf are the documents that status says are not deployed, as "change path".
func (w *world) undeployedOf(owner intent.Path) []string {
	w.Helper()
	snap := w.snapshot(owner)
	var err error
	snap.Undeployed, err = w.service.Undeployed(w.Context(), &snap)
	require.NoError(w, err)
	return changesOf(status.Of(snap).Undeployed)
}

func changesOf(all []intent.UndeployedDocument) []string {
	var out []string
	for _, d := range all {
		out = append(out, string(d.Change)+" "+strings.TrimPrefix(string(d.Path), string(shop)+"/"))
	}
	slices.Sort(out)
	return out
}

// bring deploys a group, and waits for it.
func (w *world) bring(group intent.Path) {
	w.Helper()
	_, err := w.deploy(group, intent.DeployRequest{})
	require.NoError(w, err)
	w.settle(group)
}

// TestStatusTellsTheDocumentsThatAreNotDeployed of a group: those that a deploy would make
// a release of. Once it has, none is left.
func TestStatusTellsTheDocumentsThatAreNotDeployed(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.Empty(t, w.undeployedOf(prod), "nothing is deployed that they could differ from")
	w.bring(prod)
	intents := strings.TrimPrefix(string(www(prod).Parent()), string(shop)+"/") + "/dns-intents/"
	for _, c := range []struct {
		reason string
		change func()
		want   []string
	}{
		{"an intent is changed", func() {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":7}`)
		}, []string{"changed " + intents + "www"}},
		{"an intent is added", func() {
			w.put(www(prod).Parent().Child("dns-intents", "api"), `{"app":"web","serviceName":"web","hostnames":["api.lab.example"]}`)
		}, []string{"added " + intents + "api"}},
		{"and deleted", func() { require.NoError(t, w.delete(www(prod).Parent().Child("dns-intents", "api"))) }, []string{"removed " + intents + "api"}},
		{"a cluster joins the logical cloud", func() { w.member(eu, "hub") }, []string{"added logical-clouds/eu/cluster-references/hub"}},
		{"another provider is associated", func() { w.associate(eu, "lab", "corp") },
			[]string{"added dns-update-records/corp", "changed logical-clouds/eu/kv-pairs/" + intent.AssociationName}},
		{"a provider lists the logical cloud", func() {
			w.put("projects/shop/dns-update-records/more", record("more.example", `,"logicalClouds":["eu"]`))
		}, []string{"added dns-update-records/more"}},
		{"a provider that is not in use is changed", func() { w.put(corp, record("corp.example", `,"podLabels":{"a":"b"}`)) }, []string{"changed dns-update-records/corp"}},
	} {
		c.change()
		require.Equal(t, c.want, w.undeployedOf(prod), c.reason)
		w.bring(prod)
		require.Empty(t, w.undeployedOf(prod), c.reason)
	}
	for _, quiet := range []func(){
		func() { w.put(shop, `{"namespace":"shop-dns","quotas":{"names":50}}`) },
		func() {
			w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"renewed"}`)
		},
		func() { w.observe(berlin, "shop/web", "203.0.113.11") },
	} {
		quiet()
		require.Empty(t, w.undeployedOf(prod), "it takes effect without a release")
	}
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":8}`)
	w.do(intent.Terminate, prod)
	require.Empty(t, w.undeployedOf(prod), "nothing is deployed any more")
}

// TestARollbackLeavesDocumentsThatAreNotDeployed: the present ones.
func TestARollbackLeavesDocumentsThatAreNotDeployed(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":7}`)
	w.bring(prod)
	_, err := w.service.Rollback(ann(prod), prod, 0, "", "ann")
	require.NoError(t, err)
	snap := w.snapshot(prod)
	got, err := w.service.Undeployed(t.Context(), &snap)
	require.NoError(t, err)
	require.Equal(t, []intent.UndeployedDocument{{Path: www(prod), Change: intent.InputChanged, Revision: 1, Current: 2}}, got)
}

// TestAChangedProviderIsNotDeployedUntilItIs: its status tells, and that of its groups.
// Its own deploy is enough for both. A document that says the same again is deployed.
func TestAChangedProviderIsNotDeployedUntilItIs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	own := func() []string {
		snap, err := w.service.RecordSnapshot(t.Context(), lab)
		require.NoError(t, err)
		return changesOf(status.OfRecord(snap).Undeployed)
	}
	require.Empty(t, own(), "it is not in use")
	w.bring(prod)
	require.Empty(t, own())
	w.put(lab, record("lab.example", ``))
	require.Empty(t, own(), "it says the same")
	require.Empty(t, w.undeployedOf(prod))
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	require.Equal(t, []string{"changed dns-update-records/lab"}, own())
	require.Equal(t, own(), w.undeployedOf(prod))
	_, err := w.service.DeployRecord(ann(lab), lab, intent.DeployRequest{Actor: "ann"})
	require.NoError(t, err)
	require.Empty(t, own())
	require.Empty(t, w.undeployedOf(prod), "the provider has a release of its own")
}

// TestAChangedClusterDNSIsNotDeployedUntilItIs likewise.
func TestAChangedClusterDNSIsNotDeployedUntilItIs(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	require.Empty(t, w.undeployedOf(eu))
	w.resolve(`[{"domain":"bar.com","nameservers":["1.2.3.4"]}]`, ``)
	require.Equal(t, []string{"changed logical-clouds/eu/dns-cr-intents/resolvers"}, w.undeployedOf(eu))
	w.bring(eu)
	require.Empty(t, w.undeployedOf(eu))
}
