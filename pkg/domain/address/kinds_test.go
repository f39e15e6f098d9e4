package address

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestEachKindHasARank, and a kind without one is published nowhere.
func TestEachKindHasARank(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		require.NotEqual(t, nowhere, rank(intent.ClusterScope, kind), kind)
	}
	require.Equal(t, nowhere, rank(intent.Public, "unheard of"))
}
