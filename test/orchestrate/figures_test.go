package orchestrate

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/emco"
)

// The large context that calls are measured with.
const (
	manyClusters  = 100
	manyResources = 20
	resourceSize  = 1000 // bytes
)

// TestALargeContextTakesAtMostThreeTimesItsReading: UpdateAppContext of 100
// clusters with 20 resources each, beside reading the same keys and doing
// nothing with them, in turns. Each call has a context of its own, whose
// Deployments get a DNS policy.
func TestALargeContextTakesAtMostThreeTimesItsReading(t *testing.T) {
	const turns, most = 5, 3
	s := newStage(t)
	clusters := s.region()
	var reads, calls []time.Duration
	for turn := range turns + 1 {
		id := emco.NewID()
		require.NoError(t, s.WriteContextAtOnce(t.Context(), s.large(id, clusters)))
		began := time.Now()
		keys, err := s.Keys(t.Context(), id)
		require.NoError(t, err)
		require.Greater(t, len(keys), manyClusters*manyResources)
		read := time.Since(began)
		began = time.Now()
		require.NoError(t, s.adapt(t.Context(), id, emco.NoContext))
		if call := time.Since(began); turn > 0 { // the first one learns of a hundred documents of EMCO's
			reads, calls = append(reads, read), append(calls, call)
		} else {
			t.Logf("the first call: %s", call.Round(time.Millisecond))
		}
		require.NoError(t, s.DeleteContext(t.Context(), id))
	}
	slices.Sort(reads)
	slices.Sort(calls)
	t.Logf("reads %v, calls %v", reads, calls)
	require.LessOrEqual(t, calls[turns/2], most*reads[turns/2], "of the medians")
}

// region makes many clusters that are known to Signpost and of the logical cloud,
// and answers how contexts name them.
func (s *stage) region() []string {
	s.Helper()
	var names []string
	var references strings.Builder
	for i := range manyClusters {
		name := fmt.Sprintf("site-%03d", i)
		names = append(names, "edge+"+name)
		answer, err := s.signpost.Do(s.Context(), http.MethodPost, "/v2/cluster-providers/edge/clusters", `{"metadata":{"name":"`+name+`"},"spec":{}}`)
		require.NoError(s, err)
		require.Equal(s, http.StatusCreated, answer.Status, "%s", answer.Body)
		fmt.Fprintf(&references, "---\nresourceContext: {anchor: projects/shop/logical-clouds/eu/cluster-references}\nmetadata: {name: %s}\nspec: {clusterProvider: edge, cluster: %s}\n", name, name)
	}
	require.NoError(s, s.Emcoctl("").Apply(s.Context(), references.String()))
	return names
}

// large is a context of the group on many clusters, with many resources each.
func (s *stage) large(id string, clusters []string) emco.AppContext {
	s.Helper()
	c := s.context(id, prod(), clusters...)
	for i := range c.Apps[0].Clusters {
		on := &c.Apps[0].Clusters[i]
		for n := len(on.Resources); n < manyResources; n++ {
			name := fmt.Sprintf("settings-%d", n)
			on.Resources = append(on.Resources, emco.Resource{Name: name + "+ConfigMap", Text: fmt.Sprintf(
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {text: %q}\n", name, strings.Repeat("x", resourceSize))})
		}
	}
	return c
}

// TestMemoryIsFlatOverAThousandCalls: the calls are repeated for contexts that
// come and go.
func TestMemoryIsFlatOverAThousandCalls(t *testing.T) {
	const warm, count, growth = 200, 1000, 1.15
	s := newStage(t)
	before := 0
	for n := range warm + count {
		if n == warm {
			before = s.resident()
		}
		id := emco.NewID()
		require.NoError(t, s.WriteContextAtOnce(t.Context(), s.context(id, prod(), paris, berlin)))
		require.NoError(t, s.adapt(t.Context(), id, emco.NoContext))
		require.NoError(t, s.DeleteContext(t.Context(), id))
	}
	after := s.resident()
	t.Logf("%d KiB are resident after %d calls, %d KiB after %d more", before, warm, after, count)
	require.Less(t, float64(after), growth*float64(before))
}

// resident is how much of Signpost is in memory, in KiB.
func (s *stage) resident() int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.signpost.PID()))
	require.NoError(s, err)
	_, rest, found := strings.Cut(string(text), "VmRSS:")
	require.True(s, found, "%s", text)
	size, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(s, err)
	return size
}
