package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestARecordWithoutAHomeIsWarnedOf, as long as nothing says where it is to be.
func TestARecordWithoutAHomeIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	warnings := func() []string {
		snap, err := w.service.RecordSnapshot(t.Context(), corp)
		require.NoError(t, err)
		var out []string
		for _, warning := range snap.Warnings {
			out = append(out, warning.Parameter+" "+warning.Message)
		}
		return out
	}
	const rest = ": set one of the two, or start the server with --controller-cluster; until then plans refuse names of the provider"
	require.Equal(t, []string{"deployOn is missing, and no logical cloud that uses the provider has a controllerCluster" + rest}, warnings())
	refer := func(owner intent.Path, value string) {
		w.put(owner.Child("kv-pairs", intent.AssociationName), `{"kv":[{"key1":"`+value+`"}]}`, corp)
	}
	refer(eu, "corp")
	require.Empty(t, warnings(), "the logical cloud has a controllerCluster")
	w.put(eu, `{"namespace":"shop"}`)
	require.Equal(t, []string{"deployOn is missing, and logical cloud eu of the provider has no controllerCluster" + rest}, warnings())
	require.NoError(t, w.delete(eu.Child("cluster-references", "paris")))
	require.Empty(t, warnings(), "it has one cluster")
	w.put(corp, record("corp.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`))
	w.associate(eu)
	require.Empty(t, warnings())
	w.put(corp, record("corp.example", ``))
	require.NotEmpty(t, warnings())
	refer("cluster-providers/edge/clusters/hub", "shop/corp")
	require.Empty(t, warnings(), "it is that cluster's own")

	require.NoError(t, w.delete("cluster-providers/edge/clusters/hub/kv-pairs/"+intent.AssociationName))
	w.options.ControllerCluster = &intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}
	w.restartOn(w.fake)
	require.Empty(t, warnings(), "the server says")
}
