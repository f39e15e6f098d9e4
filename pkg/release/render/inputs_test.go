package render

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// TestInputsAreRememberedOfSoManyNamesOnly: of very many names, those that were stepped last.
func TestInputsAreRememberedOfSoManyNamesOnly(t *testing.T) {
	t.Parallel()
	name := func(n int) intent.Path { return intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n)) }
	cache := &InputCache{}
	keep := func(n int) {
		cache.Keep(name(n), &Inputs{inputs: []state.Input{{}}, Group: plan.Group{Bindings: []plan.Binding{{Namespace: "shop", Service: "web"}}}}, appcontext.Pointer{})
	}
	for n := range 2 * mostInputs {
		keep(n)
	}
	remembered := 0
	for n := range 2 * mostInputs {
		if cache.get(name(n)) != nil {
			remembered++
		}
	}
	require.Equal(t, mostInputs, remembered)
	require.Nil(t, cache.get(name(0)))
	require.NotNil(t, cache.get(name(2*mostInputs-1)))
	keep(0)
	require.Equal(t, map[string][]int{"shop/web": {0}}, cache.get(name(0)).bindings, "it is remembered again after its next step")
}
