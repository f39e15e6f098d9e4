package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestListsMeanWhatReferencesAndPairsMean: a logical cloud that lists its clusters and a
// provider that lists what it serves give the same release as cluster references and KV
// pairs, and both ways together count once.
func TestListsMeanWhatReferencesAndPairsMean(t *testing.T) {
	t.Parallel()
	references := []intent.Path{eu.Child("cluster-references", "berlin"), eu.Child("cluster-references", "paris")}
	pairs := []intent.Path{eu.Child("kv-pairs", intent.AssociationName), intent.Path("cluster-providers/edge/clusters/berlin").Child("kv-pairs", intent.AssociationName)}
	release := func(lists bool, drop ...intent.Path) ([]string, []intent.NameChange) {
		w := newShop(t)
		w.associate("cluster-providers/edge/clusters/berlin", "shop/lab")
		if lists {
			w.put(eu, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"},"clusters":["edge/paris","edge/berlin"]}`)
			w.put(lab, record("lab.example", `,"logicalClouds":["eu"],"clusters":["edge/berlin","edge/hub"]`))
		}
		for _, path := range drop {
			require.NoError(t, w.delete(path))
		}
		plan := w.plan(prod, intent.Instantiate)
		require.Empty(t, plan.Errors)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		return w.published(prod), plan.Names
	}
	published, planned := release(false)
	require.Len(t, published, 2, "public and Berlin's own")
	for reason, drop := range map[string][]intent.Path{
		"both ways": nil, "lists alone": append(references, pairs...), "clusters by references": pairs, "providers by pairs": references,
	} {
		got, names := release(true, drop...)
		require.Equal(t, published, got, reason)
		require.Equal(t, planned, names, reason)
	}
}

// TestAHomeIsKnownFromLists as from cluster references and KV pairs.
func TestAHomeIsKnownFromLists(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	warnings := func() []intent.Warning {
		snap, err := w.service.RecordSnapshot(t.Context(), corp)
		require.NoError(t, err)
		return snap.Warnings
	}
	require.NotEmpty(t, warnings())
	w.put(corp, record("corp.example", `,"logicalClouds":["eu"]`))
	require.Empty(t, warnings(), "the logical cloud has a controllerCluster")
	w.put(eu, `{"namespace":"shop","clusters":["edge/berlin"]}`)
	require.Contains(t, warnings()[0].Message, "logical cloud eu of the provider has no controllerCluster")
	require.NoError(t, w.delete(eu.Child("cluster-references", "paris")))
	require.Empty(t, warnings(), "it has one cluster, which is given in both ways")
	w.put(corp, record("corp.example", `,"clusters":["edge/hub"]`))
	require.Empty(t, warnings(), "it is that cluster's own")
}
