package nameindex

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestNamesThatComeAndGoLeaveNothing: there may be very many in the life of a process.
func TestNamesThatComeAndGoLeaveNothing(t *testing.T) {
	t.Parallel()
	all := newTables()
	comeAndGo := func(many int) (texts int) {
		for n := range many {
			id := bundle.EndpointID("edge+hub", "shop-dns", fmt.Sprintf("n%d", n))
			e := ledger.Entry{ID: id, Status: ledger.Pending, Owners: []string{fmt.Sprintf("projects/shop/names/n%d.example", n)}}
			all.take(ledger.Changed{ID: id, Entry: &e})
			all.take(ledger.Changed{ID: id})
		}
		return all.texts.Len()
	}
	require.Equal(t, comeAndGo(1), comeAndGo(1000))
	require.Empty(t, all.endpoints)
	require.Empty(t, all.cluster("edge+hub").pending)
}
