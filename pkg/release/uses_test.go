package release_test

import (
	"errors"
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
	require.True(t, errors.As(w.moveTo("paris"), &refused))
	require.Len(t, refused.Fields, 1)
	require.Contains(t, refused.Fields[0].Pointer, "#/spec/deployOn")
	require.Contains(t, refused.Fields[0].Detail, `cluster edge+paris is not for home, which external-dns of provider "lab" needs`)
	w.uses("paris", `["addresses","apps","home"]`)
	require.NoError(t, w.moveTo("paris"))
}
