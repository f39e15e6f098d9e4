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

// TestNamesWithoutAddressesThatComeAndGoLeaveNothing: they never have a DNSEndpoint. An owner that changes keeps
// what is known of its own.
func TestNamesWithoutAddressesThatComeAndGoLeaveNothing(t *testing.T) {
	t.Parallel()
	all := newTables()
	path := nameOwner("shop", "www.example")
	g := groupOf(path, "lab", []string{"edge+berlin"}, "www.example", "a.example")
	all.put(path, instantiated(), g)
	kept := all.owners[path].rows[0].from[0]
	all.put(path, instantiated(), g)
	require.Same(t, kept, all.owners[path].rows[0].from[0])
	require.Len(t, all.endpoints, 1)

	moved := groupOf(path, "lab", []string{"edge+berlin"}, "www.example")
	moved.Bindings[0].Cluster = "edge+oslo"
	all.put(path, instantiated(), moved)
	require.Len(t, all.endpoints, 1, "the one in the former home is needed no more")
	all.remove(path)
	require.Empty(t, all.endpoints)
}

// TestADNSEndpointOnItsWayIsKnownBeforeItsOwner, as when the Index is filled.
func TestADNSEndpointOnItsWayIsKnownBeforeItsOwner(t *testing.T) {
	t.Parallel()
	all := newTables()
	path := nameOwner("shop", "www.example")
	g := groupOf(path, "lab", nil, "www.example")
	all.take(ledger.Changed{ID: endpointID(g), Entry: &ledger.Entry{ID: endpointID(g), Status: ledger.Pending}})
	all.put(path, instantiated(), g)
	require.True(t, all.owners[path].rows[0].from[0].here)
}
