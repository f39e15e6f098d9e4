package clustertest

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

func testNodes(t *testing.T, f Fixture) {
	var woken atomic.Int64
	notify := cluster.Quiet()
	notify.Addresses = func(string, string) { woken.Add(1) }
	w := f.Target.Watch(t.Context(), notify)
	t.Cleanup(w.Stop)
	_, known := w.Nodes()
	assert.False(t, known, "what is not followed is unknown")
	w.Follow(cluster.Interest{Nodes: true})
	if f.Join == nil {
		_, known := w.Nodes()
		assert.False(t, known, "where there are no nodes, none is known to be absent")
		return
	}
	see := func(why string, want ...placement.Node) {
		t.Helper()
		eventually(t, why, func() bool {
			nodes, known := w.Nodes()
			return known && assert.ObjectsAreEqual(want, append([]placement.Node(nil), nodes...))
		})
	}
	see("absence is positive knowledge")

	other := placement.Node{Name: "node-b", Labels: map[string]string{"disktype": "hdd"}}
	f.Join(t, other)
	ssd := placement.Node{
		Name: "node-a", Labels: map[string]string{"disktype": "ssd", "zone": "1"},
		Taints: []placement.Taint{{Key: "dns-only", Value: "yes", Effect: "NoSchedule"}, {Key: "going", Effect: "NoExecute"}},
	}
	f.Join(t, ssd)
	see("they are seen with labels and taints, in order", ssd, other)

	before := woken.Load()
	for range 5 {
		f.Beat(t, "node-a")
	}
	ssd.Taints = nil
	f.Join(t, ssd)
	see("a taint that goes is seen", ssd, other)
	assert.Equal(t, before+1, woken.Load(), "and wakes once; heartbeats do not")

	f.Leave(t, "node-a")
	f.Leave(t, "node-b")
	see("that the last one goes is seen")
	w.Follow(cluster.Interest{})
	_, known = w.Nodes()
	require.False(t, known, "what is no longer followed is unknown")
}
