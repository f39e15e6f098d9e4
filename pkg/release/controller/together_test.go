package controller

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestNamesThatAreSteppedAtOnceAreOfDifferentReads, so that not all workers wait for one.
func TestNamesThatAreSteppedAtOnceAreOfDifferentReads(t *testing.T) {
	t.Parallel()
	owners := []intent.Path{"projects/shop/logical-clouds/eu"}
	for n := range 2*workers*readAtOnce + 70 {
		owners = append(owners, intent.Path(fmt.Sprintf("projects/shop/names/n%04d.example", n)))
	}
	var r resync
	r.ask(owners, turn{})
	order := striped(owners)
	require.Equal(t, owners[0], order[0])
	require.ElementsMatch(t, owners, order)
	names := order[1:]
	for at := range 2 * readAtOnce {
		reads := map[*together]bool{}
		for _, name := range names[at*workers : (at+1)*workers] {
			reads[r.asked[name].together] = true
		}
		require.Len(t, reads, workers)
	}
	require.Empty(t, slices.DeleteFunc(names, func(name intent.Path) bool { return r.asked[name].together != nil }))
}
