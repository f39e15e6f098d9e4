package syncer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/link"
)

func onSSD() placement.Placement {
	return placement.Placement{NodeSelector: map[string]string{"disktype": "ssd"}}
}

func onAll() placement.Placement {
	return placement.Placement{Tolerations: []intent.Toleration{{Operator: "Exists"}}}
}

// placing wants a cluster's nodes to be held against placements.
func placing(name string, placements ...placement.Placement) appcontext.Context {
	return appcontext.Context{Placements: map[string][]placement.Placement{name: placements}}
}

// verdict is what is stored of a placement on the hub, nil for nothing.
func (s *scene) verdict(p placement.Placement) *placement.Verdict {
	s.t.Helper()
	v, err := s.observed.Placement(s.t.Context(), hub, p.Key())
	require.NoError(s.t, err)
	return v
}

// suits waits until a placement is seen to suit so many nodes of so many.
func (s *scene) suits(p placement.Placement, suitable, nodes int) {
	s.t.Helper()
	s.until("the verdict is written", func() bool {
		v := s.verdict(p)
		return v != nil && v.Suitable == suitable && v.Nodes == nodes
	})
}

func TestPlacementIsHeldAgainstTheNodesAsTheyChange(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	s.start("a")
	ssd := placement.Node{Name: "a", Labels: map[string]string{"disktype": "ssd"}}
	f.SetNode(ssd)
	f.SetNode(placement.Node{Name: "b"})
	s.commitWith("eu", placing(hub, onSSD(), onAll()))
	s.suits(onSSD(), 1, 2)
	s.suits(onAll(), 2, 2)

	began := time.Now()
	ssd.Taints = []placement.Taint{{Key: "dns-only", Effect: "NoSchedule"}}
	f.SetNode(ssd)
	s.suits(onSSD(), 0, 2)
	assert.Less(t, time.Since(began), link.ProbeInterval, "at once")
	assert.ElementsMatch(t, []placement.Exclusion{
		{Reason: "label disktype=ssd is missing", Nodes: 1}, {Reason: "taint dns-only:NoSchedule is not tolerated", Nodes: 1},
	}, s.verdict(onSSD()).Excluded)
	s.suits(onAll(), 2, 2)
	f.RemoveNode("a")
	s.suits(onAll(), 1, 1)
	ssd.Taints = nil
	f.SetNode(ssd)
	s.suits(onSSD(), 1, 2)
	assert.Empty(t, writes(f), "nothing is done to the cluster")
}

func TestVerdictStaysWhileTheNodesAreUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		_, stop := s.start("a")
		f.Blind(true)
		s.commitWith("eu", placing(hub, onAll()))
		s.until("the cluster is reached", func() bool { r, _ := s.observed.Reachability(t.Context(), hub); return r != nil })
		assert.Nil(t, s.verdict(onAll()), "nodes that nobody has seen are not none")
		f.SetNode(placement.Node{Name: "a"})
		f.Blind(false)
		s.suits(onAll(), 1, 1)

		f.Down(true)
		f.RemoveNode("a")
		stop()
		s.start("b")
		s.commitWith("us", placing(hub, onSSD()))
		s.until("the cluster is known to be down", func() bool {
			r, _ := s.observed.Reachability(t.Context(), hub)
			return r != nil && !r.Reachable
		})
		assert.Equal(t, 1, s.verdict(onAll()).Suitable, "it is what it was when the nodes were seen last (I11)")
		assert.Nil(t, s.verdict(onSSD()))
		f.Down(false)
		s.suits(onAll(), 0, 0)
		s.suits(onSSD(), 0, 0)
	})
}

func TestVerdictGoesWithTheLastWhoWantsIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	f.SetNode(placement.Node{Name: "a"})
	s.commitWith("eu", placing(hub, onAll(), onSSD()))
	s.commitWith("us", placing(hub, onAll()))
	s.suits(onAll(), 1, 1)
	s.suits(onSSD(), 0, 1)
	s.commitWith("eu", placing(hub, onAll()))
	s.until("what nobody wants is forgotten", func() bool { return s.verdict(onSSD()) == nil })
	s.commit("eu")
	f.SetNode(placement.Node{Name: "b"})
	s.suits(onAll(), 2, 2)
	s.commit("us")
	s.until("and the cluster is let go of, without a trace", func() bool {
		items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: workerPrefix})
		return err == nil && len(items) == 0 && w.Idle() && s.verdict(onAll()) == nil
	})
	clusters, err := s.observed.Clusters(t.Context())
	require.NoError(t, err)
	assert.Empty(t, clusters)
}

func TestVerdictIsWrittenWhenItChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	s.start("a")
	inZone := placement.Placement{NodeSelector: map[string]string{"zone": "1"}}
	f.SetNode(placement.Node{Name: "a"})
	s.commitWith("eu", placing(hub, inZone, onSSD()))
	s.suits(inZone, 0, 1)
	s.suits(onSSD(), 0, 1)
	before := s.kv.Revision()
	f.SetNode(placement.Node{Name: "a", Labels: map[string]string{"zone": "1"}})
	s.suits(inZone, 1, 1)
	item, _, err := s.kv.Get(t.Context(), "/signpost/observed/"+hub+"/placement/"+onSSD().Key())
	require.NoError(t, err)
	assert.LessOrEqual(t, item.ModRevision, before, "a label that nobody asks about changes nothing")
}
