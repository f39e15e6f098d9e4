package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// nameCost is what a name costs: requests to the store, and bytes that stay there.
type nameCost struct {
	Published, FirstStep, Completed, AtRest, Changed, Deleted int
	Bytes                                                     int
	Items                                                     int // that all of these requests answered
}

// TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider, and is not above what it is
// today: neither to publish the name, nor to bring it to its cluster, to change and to
// delete it. How clusters can be reached is known, as in each process with a controller. A
// name of the provider was published before by the same process.
func TestTheCostOfANameDoesNotGrowWithTheNamesOfItsProvider(t *testing.T) {
	t.Parallel()
	most := nameCost{Published: 5, FirstStep: 4, Completed: 3, AtRest: 2, Changed: 4, Deleted: 12, Bytes: 4200}
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
	require.InDelta(t, is.Bytes, beside.Bytes, 50, "ids of contexts have up to 19 digits")
	const listed = 8 * 2 * 34 // users of the provider, of which a page is read
	require.LessOrEqual(t, beside.Items, is.Items+listed)
	beside.Bytes, beside.Items = is.Bytes, is.Items
	require.Equal(t, is, beside)
	require.LessOrEqual(t, is.Published+is.FirstStep+is.Completed, 12, "until it is published")
	require.LessOrEqual(t, is.Published, most.Published)
	require.LessOrEqual(t, is.FirstStep, most.FirstStep)
	require.LessOrEqual(t, is.Completed, most.Completed)
	require.LessOrEqual(t, is.AtRest, most.AtRest)
	require.LessOrEqual(t, is.Changed, most.Changed)
	require.LessOrEqual(t, is.Deleted, most.Deleted)
	require.LessOrEqual(t, is.Bytes, most.Bytes)
}

// costOfAName publishes the name bakery, changes it and deletes it.
func (w *world) costOfAName(store *costing) (cost nameCost) {
	w.Helper()
	counted := func(into *int, do func() error) {
		is := store.of(w, "", do)
		*into, cost.Items = is.Reads+is.Writes, cost.Items+is.Items
	}
	require.NoError(w, w.service.KeepHealth(w.Context()))
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
	cost.Bytes = w.bytesOf(bakery.Name())
	counted(&cost.Changed, put(ofFront[:len(ofFront)-1]+`,"ttl":60}`))
	w.settle(bakery)
	counted(&cost.Deleted, func() error {
		_, err := w.service.UnpublishName(ann(bakery), bakery, intent.NameRequest{Actor: "ann"})
		return err
	})
	return cost
}

// bytesOf are those of the keys and values that there are for the only release of a host
// name.
func (w *world) bytesOf(host string) (sum int) {
	w.Helper()
	context := w.snapshot(bakery).Lifecycle.ContextID
	items, _, err := w.fake.Range(w.Context(), kv.Range{Prefix: "/"})
	require.NoError(w, err)
	object := strings.ReplaceAll(host, ".", "-")
	for _, item := range items {
		if strings.Contains(item.Key, host) || strings.Contains(item.Key, context) || strings.Contains(item.Key, object) {
			sum += len(item.Key) + len(item.Value)
		}
	}
	return sum
}
