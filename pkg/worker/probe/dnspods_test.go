package probe

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// TestUpstreamsAreOldWithoutADNSPodThatIsReady: what was seen of them stays, and
// is said to be old until pods were asked again (I6).
func TestUpstreamsAreOldWithoutADNSPodThatIsReady(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	i := &dnsPodProbe{seen: true}
	looked := func() {
		i.asked = now
		i.looks["a"] = cmp.Or(i.looks["a"], &look{})
		i.looks["a"].take(counts{failures: map[string]float64{north: 0}})
		i.conclude("", now)
	}
	ready, ailing := dnsPod("a"), dnsPod("a")
	ailing.Ready = false
	i.take([]cluster.Pod{ready})
	looked()
	assert.Contains(t, i.dns.Unread, "asked twice")
	looked()
	well := &observed.DNS{Upstreams: []observed.Upstream{{Address: north, Since: now.UTC()}}}
	require.Equal(t, well, i.dns)

	i.take([]cluster.Pod{ailing})
	assert.Equal(t, &observed.DNS{Upstreams: well.Upstreams, Unread: "no DNS pod is ready"}, i.dns)
	assert.Equal(t, askRarelyMost, i.due(now), "there is nobody to ask")
	i.take([]cluster.Pod{ready})
	assert.Zero(t, i.due(now), "it is asked as soon as it is ready")
	looked()
	assert.Contains(t, i.dns.Unread, "asked twice")
	assert.Equal(t, well.Upstreams, i.dns.Upstreams)
	looked()
	assert.Equal(t, well, i.dns)
}

func TestDNSPodsAreAskedTwiceAndThenRarely(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	i := &dnsPodProbe{}
	assert.Equal(t, askRarelyMost, i.due(now), "without pods there is nobody to ask")
	i.seen = true
	i.take([]cluster.Pod{dnsPod("b"), dnsPod("a")})
	assert.Zero(t, i.due(now))
	i.asked = now
	i.looks["a"], i.looks["b"] = &look{}, &look{}
	i.looks["a"].take(counts{failures: map[string]float64{north: 1}})
	assert.Equal(t, askSoonMost, i.due(now), "one look tells nothing")
	i.looks["a"].take(counts{failures: map[string]float64{north: 1}})
	assert.Equal(t, askRarely, i.due(now), "one that does not answer is asked no sooner")
	i.take([]cluster.Pod{dnsPod("a"), dnsPod("c")})
	assert.Equal(t, askSoonMost-time.Second, i.due(now.Add(time.Second)), "a new pod waits for a failing upstream to be checked again")
	assert.NotContains(t, i.looks, "b")
}

// TestTheOptionIsUnknownIfItIsToAnyNode: whichever was asked.
func TestTheOptionIsUnknownIfItIsToAnyNode(t *testing.T) {
	t.Parallel()
	i := &dnsPodProbe{looks: map[string]*look{"a": {}, "b": {}, "c": {}}}
	look := func(pod string, answers, unsupported float64) {
		i.looks[pod].take(counts{walked: answers, unsupported: unsupported})
	}
	for _, c := range []struct {
		why             string
		a, b            [2]float64
		known, unknowns bool
	}{
		{"one look tells nothing", [2]float64{5, 5}, [2]float64{5, 0}, false, false},
		{"nothing was asked since", [2]float64{5, 5}, [2]float64{5, 0}, false, false},
		{"one knows it", [2]float64{6, 5}, [2]float64{5, 0}, true, false},
		{"the other does not", [2]float64{6, 5}, [2]float64{6, 1}, true, true},
		{"started anew, it does", [2]float64{6, 5}, [2]float64{2, 0}, true, false},
		{"started anew, it does not", [2]float64{1, 1}, [2]float64{2, 0}, true, true},
	} {
		look("a", c.a[0], c.a[1])
		look("b", c.b[0], c.b[1])
		i.conclude("", time.Unix(1000, 0))
		require.Equal(t, c.known, i.dns.Unsupported != nil, c.why)
		if c.known {
			require.Equal(t, c.unknowns, *i.dns.Unsupported, c.why)
		}
	}
}

const north = "198.51.100.1:53"

// dnsPod is a pod of a nameserver that runs.
func dnsPod(name string) cluster.Pod {
	return cluster.Pod{Name: name, Ready: true, Created: time.Now(), Ports: map[string]int32{"metrics": 9153}}
}
