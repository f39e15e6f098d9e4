package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// uses says what a cluster is for.
func (w *world) uses(cluster, uses string) {
	w.Helper()
	w.put(intent.Join("cluster-providers/edge/clusters", cluster), `{"kubeconfigRef":"sealed","uses":`+uses+`}`)
}

func TestClustersOfFewUsesAreEnough(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.uses("hub", `["home"]`)
	w.uses("berlin", `["addresses"]`)
	w.uses("paris", `["addresses"]`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{wwwOnBoth}, w.published(prod))
	for _, line := range w.inClusters() {
		require.NotContains(t, line, berlin, "nothing is put where addresses are read")
		require.NotContains(t, line, paris)
	}
}

func TestAProviderMovesToAHomeAlone(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.uses("paris", `["addresses","apps"]`)
	var refused *intent.Error
	require.ErrorAs(t, w.moveTo("paris"), &refused)
	require.Len(t, refused.Fields, 1)
	require.Contains(t, refused.Fields[0].Pointer, "#/spec/deployOn")
	require.Contains(t, refused.Fields[0].Detail, `cluster edge+paris is not for home, which external-dns of provider "lab" needs`)
	w.uses("paris", `["addresses","apps","home"]`)
	require.NoError(t, w.moveTo("paris"))
}

// TestAClusterIsUsedForWhatIsReleased, at the home where a provider is now.
func TestAClusterIsUsedForWhatIsReleased(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	usesOf := func(cluster string) map[intent.ClusterUse]intent.Path {
		uses, err := w.service.UsesOf(t.Context(), intent.Join("cluster-providers/edge/clusters", cluster))
		require.NoError(t, err)
		return uses
	}
	require.Empty(t, usesOf("hub"), "intents alone use nothing")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, map[intent.ClusterUse]intent.Path{intent.UseHome: prod}, usesOf("hub"))
	require.Equal(t, map[intent.ClusterUse]intent.Path{intent.UseAddresses: prod}, usesOf("berlin"))

	require.NoError(t, w.moveTo("paris"))
	w.settle(prod)
	require.Empty(t, usesOf("hub"))
	require.Equal(t, map[intent.ClusterUse]intent.Path{intent.UseHome: prod, intent.UseAddresses: prod}, usesOf("paris"))

	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Contains(t, usesOf("paris"), intent.UseHome, "external-dns outlives the names")
	w.outlive()
	w.settle(prod)
	require.Empty(t, usesOf("paris"))
}
