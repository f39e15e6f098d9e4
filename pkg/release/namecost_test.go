package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider: neither to publish it nor to
// change it.
func TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider(t *testing.T) {
	t.Parallel()
	const most = 35 // requests to publish a name
	type cost struct{ published, changed int }
	costs := map[int]cost{}
	for _, others := range []int{10, 300} {
		w := newNames(t)
		for n := range others {
			other := intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n))
			require.NoError(t, w.publish(other, ofFront))
			if n == 0 {
				w.settle(other) // the namespaces of the Service are the project's then
			}
		}
		counted := func(do func() error) int {
			requests := 0
			w.fake.Before = func(string, string) error { requests++; return nil }
			err := do()
			w.fake.Before = nil
			require.NoError(t, err)
			return requests
		}
		put := func(spec string) func() error {
			r := w.request(bakery, spec)
			return func() error { _, err := w.service.PublishName(ann(bakery), bakery, r); return err }
		}
		published := counted(put(ofFront))
		changed := counted(put(ofFront[:len(ofFront)-1] + `,"ttl":60}`))
		costs[others] = cost{published, changed}
	}
	require.Equal(t, costs[10], costs[300])
	require.LessOrEqual(t, costs[10].published, most)
}
