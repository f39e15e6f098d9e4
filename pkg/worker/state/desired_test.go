package state

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// holding is one owner's context.
type holding struct {
	Contexts
	objects bundle.Bundle
}

func (h holding) ObjectsOn(context.Context, appcontext.Pointer, string) (bundle.Bundle, int64, error) {
	return h.objects, 1, nil
}

// TestWhatIsWantedIsInMemoryOnce: whoever has very many objects in a cluster would
// otherwise take several times the memory.
func TestWhatIsWantedIsInMemoryOnce(t *testing.T) {
	t.Parallel()
	var objects bundle.Bundle
	for n := range 3 {
		o, err := bundle.Parse("edge+hub", "web", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d","labels":{"a":"b"}}}`, n))
		require.NoError(t, err)
		objects = append(objects, o)
	}
	other, err := bundle.Parse("edge+hub", "web", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","labels":{"a":"c"}}}`))
	require.NoError(t, err)
	const owner = appcontext.Owner("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")
	d := NewDesired(&Cluster{Name: "edge+hub", Installation: "id"}, holding{objects: append(objects, other)})
	shares, err := d.read(t.Context(), []appcontext.Pointer{{Owner: owner, ContextID: "1"}})
	require.NoError(t, err)

	labels := func(o bundle.Object) uintptr {
		return reflect.ValueOf(shares[owner].objects.get(o.ID).Marks.Labels).Pointer()
	}
	require.Equal(t, labels(objects[0]), labels(objects[2]), "the same labels are there once")
	require.NotEqual(t, labels(objects[0]), labels(other))
	require.Equal(t, "c", shares[owner].objects.get(other.ID).Marks.Labels["a"])
	d.merge(shares, nil)
	require.Len(t, d.Objects(), 4)
	for id, want := range d.Objects() {
		require.Same(t, want, shares[owner].objects.get(id))
		require.Equal(t, []string{string(owner)}, want.Owners)
	}
}
