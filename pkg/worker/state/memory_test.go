package state

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// TestAnOwnerOfOneObjectTakesLittle: each single name is an owner with one object. The object itself, its labels and its
// pointer are not counted.
func TestAnOwnerOfOneObjectTakesLittle(t *testing.T) {
	const many, most = 2000, 680 // bytes of each
	d := NewDesired(&Cluster{Name: here, Installation: "id"}, nil)
	pointers, objects := make([]appcontext.Pointer, many), make([]bundle.Object, many)
	for n := range many {
		o, err := bundle.Parse(here, "web", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"}}`, n))
		require.NoError(t, err)
		pointers[n], objects[n] = appcontext.Pointer{Owner: appcontext.Owner(fmt.Sprintf("o%d", n)), ContextID: "1"}, o
	}
	before := memory.InUse()
	for n := range many {
		one, err := d.shareOf(pointers[n], bundle.Bundle{objects[n]}, 1)
		require.NoError(t, err)
		d.merge(map[appcontext.Owner]*share{pointers[n].Owner: one}, nil)
	}
	d.cluster.Agenda.Take()
	d.cluster.stale.asked.Take()
	d.cluster.stale.applied.Take()
	each := (memory.InUse() - before) / many
	require.Len(t, d.Objects(), many)
	runtime.KeepAlive(objects)
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
}
