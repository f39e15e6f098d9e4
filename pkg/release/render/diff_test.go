package render

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
)

// onManyClusters is a group of one app with a manifest of so many bytes.
func onManyClusters(clusters, bytes int) plan.Group {
	manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"text":%q}}`, strings.Repeat("line\n", bytes/5))
	app := plan.App{Name: "a", Manifests: []json.RawMessage{json.RawMessage(manifest)}}
	for n := range clusters {
		app.Clusters = append(app.Clusters, fmt.Sprintf("edge+c%03d", n))
	}
	return plan.Group{LogicalCloudNamespace: "shop", Apps: []plan.App{app}}
}

// TestAPlanOverManyClustersIsSmall: what an app has on a hundred clusters is in
// memory once, and the plan's diffs end at a few megabytes.
func TestAPlanOverManyClustersIsSmall(t *testing.T) {
	const clusters, size = 100, 200 << 10
	objects, _, err := workloads.Render(t.Context(), onManyClusters(clusters, size))
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	texts, said, left := Diffs{}, 0, 0
	for _, change := range Planned(nil, bundle.Bundle(objects)) {
		text := texts.Of(change)
		said += len(text)
		if strings.HasPrefix(text, "(left out: the plan's diffs have more than 4096 KiB)") {
			left++
		}
	}
	runtime.ReadMemStats(&after)
	require.Less(t, said, 5<<20)
	require.Greater(t, left, clusters/2)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20), "each diff is made once")
	require.Same(t, &objects[1].JSON[0], &objects[3].JSON[0], "and each object is there once")
}

func TestADiffOfALargeObjectIsLeftOut(t *testing.T) {
	t.Parallel()
	large := []byte(`"` + strings.Repeat("x", 300<<10) + `"`)
	require.Equal(t, "(left out: the object has more than 512 KiB)\n", (&Diffs{}).Of(bundle.Change{Action: bundle.Update, Old: large, New: large}))
	require.Empty(t, (&Diffs{}).Of(bundle.Change{Action: bundle.Unchanged, Old: large, New: large}))
	require.NotContains(t, (&Diffs{}).Of(bundle.Change{Action: bundle.Create, New: large}), "left out")
	long := []byte(`{"x":[` + strings.Repeat("1,", 10_000) + `1]}`)
	require.Equal(t, "(left out: the object has more than 10000 lines)\n", (&Diffs{}).Of(bundle.Change{Action: bundle.Update, Old: long, New: append(long, ' ')}))
}
