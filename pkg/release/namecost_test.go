package release_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// nameCost is what a name costs: requests to the store, and bytes that stay there.
type nameCost struct {
	Published, FirstStep, Completed, AtRest, Changed, Deleted int
	Bytes                                                     int
	Items                                                     int    // that all of these requests answered
	Stored                                                    string // the bytes of each key
}

// TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider, and is not above what it is
// today: neither to publish the name, nor to bring it to its cluster, to change and to
// delete it. How clusters can be reached is known, as in each process with a controller. A
// name of the provider was published before by the same process.
func TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider(t *testing.T) {
	t.Parallel()
	most := nameCost{Published: 5, FirstStep: 4, Completed: 3, AtRest: 2, Changed: 4, Deleted: 12, Bytes: 2905}
	costs := map[int]nameCost{}
	for _, others := range []int{10, 300} {
		w := newNames(t)
		many := 1000
		w.options.Quotas = intent.Quotas{Names: &many, Objects: &many, ExternalDNS: &many}
		store := &costing{KV: w.fake}
		w.restartOn(store)
		for n := range others {
			other := intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n))
			require.NoError(t, w.publish(other, ofFront))
			if n == 0 {
				w.settle(other) // the namespaces of the Service are the project's then
			}
		}
		costs[others] = w.costOfAName(store)
	}
	is, beside := costs[10], costs[300]
	t.Logf("%+v", is)
	require.LessOrEqual(t, is.Bytes, most.Bytes, "stored of a further name:%s", is.Stored)
	require.InDelta(t, is.Bytes, beside.Bytes, 50, "ids of contexts have up to 19 digits")
	const listed = 8 * 2 * 34 // users of the provider, of which a page is read
	require.LessOrEqual(t, beside.Items, is.Items+listed)
	beside.Bytes, beside.Items, beside.Stored = is.Bytes, is.Items, is.Stored
	require.Equal(t, is, beside)
	require.LessOrEqual(t, is.Published+is.FirstStep+is.Completed, 12, "until it is published")
	require.LessOrEqual(t, is.Published, most.Published)
	require.LessOrEqual(t, is.FirstStep, most.FirstStep)
	require.LessOrEqual(t, is.Completed, most.Completed)
	require.LessOrEqual(t, is.AtRest, most.AtRest)
	require.LessOrEqual(t, is.Changed, most.Changed)
	require.LessOrEqual(t, is.Deleted, most.Deleted)
}

// costOfAName publishes the name bakery, changes it and deletes it.
func (w *world) costOfAName(store *costing) (cost nameCost) {
	w.Helper()
	counted := func(into *int, do func() error) {
		is := store.of(w, "", do)
		*into, cost.Items = is.Reads+is.Writes, cost.Items+is.Items
	}
	require.NoError(w, w.service.KeepHealth(w.Context()))
	before := w.sizes()
	put := func(spec string) func() error {
		r := w.request(bakery, spec)
		return func() error { _, err := w.service.PublishName(ann(bakery), bakery, r); return err }
	}
	step := func() error { _, err := w.service.StepGroup(context.Background(), bakery); return err }
	counted(&cost.Published, put(ofFront))
	counted(&cost.FirstStep, step)
	w.applyAll()
	counted(&cost.Completed, step)
	require.Equal(w, intent.Instantiated, w.state(bakery))
	counted(&cost.AtRest, step)
	cost.Bytes, cost.Stored = w.storedBeside(before)
	counted(&cost.Changed, put(ofFront[:len(ofFront)-1]+`,"ttl":60}`))
	w.settle(bakery)
	counted(&cost.Deleted, func() error {
		_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
		return err
	})
	return cost
}

// sizes are how many bytes each key of the store has, with its value.
func (w *world) sizes() map[string]int {
	w.Helper()
	items, _, err := w.fake.Range(w.Context(), kv.Range{Prefix: "/"})
	require.NoError(w, err)
	sizes := map[string]int{}
	for _, item := range items {
		sizes[item.Key] = len(item.Key) + len(item.Value)
	}
	return sizes
}

// storedBeside is how many bytes the store has more than before, and in which keys.
func (w *world) storedBeside(before map[string]int) (sum int, keys string) {
	w.Helper()
	now := w.sizes()
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if more := now[key] - before[key]; more != 0 {
			sum, keys = sum+more, keys+fmt.Sprintf("\n%5d %s", more, key)
		}
	}
	return sum, keys
}
