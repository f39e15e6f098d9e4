package observed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// many are the publications of as many DNSEndpoints.
type many struct {
	wanted    map[string]bool
	published map[string]observed.Published
}

func manyOf(size int) many {
	m := many{wanted: map[string]bool{}, published: map[string]observed.Published{}}
	for n := range size {
		endpoint := fmt.Sprintf("shop/e%d", n)
		m.wanted[endpoint] = true
		m.published[endpoint] = observed.Published{UID: "1", Generation: 1, At: time.Unix(1000, 0).UTC()}
	}
	return m
}

// TestWhatHasNotChangedCostsNoAllocations: an observer compares all that is known of its
// cluster each time that anything is seen. One that takes over decodes what is stored once.
func TestWhatHasNotChangedCostsNoAllocations(t *testing.T) {
	var costs []float64
	for _, size := range []int{100, 10_000} {
		fake, m := kvtest.NewFake(), manyOf(size)
		observe := func(w *observed.Writer) {
			require.NoError(t, w.SetPublished(t.Context(), m.wanted, m.published))
		}
		observe(writer(t, fake, hub))
		w := writer(t, fake, hub)
		before := fake.Revision()
		observe(w)
		costs = append(costs, testing.AllocsPerRun(3, func() { observe(w) }))
		require.Equal(t, before, fake.Revision(), "nothing is written twice")
	}
	require.LessOrEqual(t, costs[1], costs[0]+5)
}
