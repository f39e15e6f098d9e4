package syncer

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/probe"
)

const north, south = "198.51.100.1:53", "198.51.100.2:53"

func ofCloud() map[string]string {
	return map[string]string{bundle.LabelProject: "shop", bundle.LabelLogicalCloud: "eu", "app.kubernetes.io/name": "dns-default"}
}

// clusterDNS are the objects of a DNS CR intent that matter here.
func clusterDNS(t *testing.T) []bundle.Object {
	t.Helper()
	daemonSet, err := bundle.New(hub, "cluster-dns", map[string]any{
		"apiVersion": "apps/v1", "kind": "DaemonSet",
		"metadata": map[string]any{"name": "dns-default", "namespace": "shop", "labels": ofCloud()},
	})
	require.NoError(t, err)
	return []bundle.Object{namespace(t, hub), daemonSet}
}

// dnsPod is a pod of it that runs.
func dnsPod(name string) cluster.Pod {
	return cluster.Pod{Name: name, Ready: true, Created: time.Now(), Ports: map[string]int32{"metrics": 9153}, Labels: ofCloud()}
}

// counted is what CoreDNS serves after so many failed health checks, by
// upstream; each has answered queries too.
func counted(failed map[string]float64) cluster.Metrics {
	metrics := cluster.Metrics{
		{Name: "coredns_build_info", Labels: map[string]string{"version": "1.15.0"}, Value: 1},
		{Name: "coredns_proxy_healthcheck_failures_total", Labels: map[string]string{"proxy_name": "grpc", "to": "192.0.2.1:53"}, Value: 99},
	}
	for upstream, count := range failed {
		labels := map[string]string{"proxy_name": "forward", "to": upstream}
		if count > 0 {
			metrics = append(metrics, cluster.Sample{Name: "coredns_proxy_healthcheck_failures_total", Labels: labels, Value: count})
		}
		for _, rcode := range []string{"NOERROR", "NXDOMAIN"} {
			answered := map[string]string{"proxy_name": "forward", "to": upstream, "rcode": rcode}
			metrics = append(metrics, cluster.Sample{Name: "coredns_proxy_request_duration_seconds_count", Labels: answered, Value: 7})
		}
	}
	return metrics
}

// resolving is a scene in which a DNS CR intent's DaemonSet is applied.
func resolving(t *testing.T) (*scene, *clustertest.Fake, func()) {
	t.Helper()
	s := newScene(t, hub)
	s.clock = hasty{time.Now()}
	w, stop := s.start("a")
	s.commit("eu", clusterDNS(t)...)
	s.settled(w, clusterDNS(t)...)
	return s, s.clusters[hub], stop
}

func (s *scene) daemonSet() observed.DaemonSet {
	s.t.Helper()
	d, err := s.observed.DaemonSet(s.t.Context(), hub, "shop", "dns-default")
	require.NoError(s.t, err)
	if d == nil {
		return observed.DaemonSet{}
	}
	return *d
}

// upstreams are those that are seen: whether they fail.
func (s *scene) upstreams() map[string]bool {
	s.t.Helper()
	out := map[string]bool{}
	if dns := s.daemonSet().DNS; dns != nil {
		for _, u := range dns.Upstreams {
			out[u.Address] = u.Failing
		}
	}
	return out
}

func (s *scene) untilUpstreams(why string, want map[string]bool) {
	s.t.Helper()
	s.until(why, func() bool { return assert.ObjectsAreEqual(want, s.upstreams()) })
}

func TestDaemonSetsAreObserved(t *testing.T) {
	t.Parallel()
	s, f, _ := resolving(t)
	f.SetAvailability("shop", "dns-default", cluster.Availability{Desired: 3, Ready: 2, Message: "2 of 3 pods are ready"})
	s.until("one pod is missing", func() bool { return s.daemonSet().Message == "2 of 3 pods are ready" })
	seen := s.daemonSet()
	assert.Equal(t, [2]int32{3, 2}, [2]int32{seen.Desired, seen.Ready})
	assert.False(t, seen.Available)
	assert.False(t, seen.Since.IsZero(), "since when it is not available")
	ailing := dnsPod("dns-1")
	ailing.Ready, ailing.Trouble = false, "pod dns-1: container dns is in a crash loop"
	f.SetPod("shop", ailing)
	s.until("and why", func() bool { return s.daemonSet().Message == seen.Message+"; "+ailing.Trouble })
	f.SetPod("shop", dnsPod("dns-1"))
	f.SetAvailability("shop", "dns-default", cluster.Availability{Available: true, Desired: 3, Ready: 3})
	s.until("all are ready", func() bool { return s.daemonSet().Available && s.daemonSet().Message == "" })
	assert.True(t, s.daemonSet().Since.After(seen.Since))
	s.commit("eu")
	s.until("it is forgotten", func() bool { return s.daemonSet() == observed.DaemonSet{} })
}

func TestUpstreamThatFailsItsHealthChecksIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := resolving(t)
		f.SetMetrics("shop", "dns-1", counted(map[string]float64{north: 5, south: 0}))
		f.SetPod("shop", dnsPod("dns-1"))
		s.untilUpstreams("both do well, whatever was long ago", map[string]bool{north: false, south: false})
		since := s.daemonSet().DNS.Upstreams[0].Since
		assert.False(t, since.IsZero())

		f.SetMetrics("shop", "dns-1", counted(map[string]float64{north: 17, south: 0}))
		s.untilUpstreams("one has failed since", map[string]bool{north: true, south: false})
		assert.True(t, s.daemonSet().DNS.Upstreams[0].Since.After(since))
		assert.Equal(t, since, s.daemonSet().DNS.Upstreams[1].Since)
		s.until("the log tells", func() bool { return assert.Contains(t, s.log.String(), "upstream "+north+" fails its health checks") })
		s.untilUpstreams("it is well again", map[string]bool{north: false, south: false})

		f.SetMetrics("shop", "dns-1", counted(map[string]float64{north: 1, south: 0}))
		s.untilUpstreams("a CoreDNS that was started anew counts from 0", map[string]bool{north: true, south: false})
		f.SetMetrics("shop", "dns-1", counted(map[string]float64{south: 0}))
		s.untilUpstreams("what is asked no more is forgotten", map[string]bool{south: false})
	})
}

func TestUpstreamFailsIfItDoesFromAnyNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := resolving(t)
		for n := range 12 {
			name := "dns-" + strconv.Itoa(10+n)
			f.SetMetrics("shop", name, counted(map[string]float64{north: 0}))
			f.SetPod("shop", dnsPod(name))
		}
		s.untilUpstreams("it does well", map[string]bool{north: false})
		f.SetMetrics("shop", "dns-12", counted(map[string]float64{north: 1}))
		s.untilUpstreams("it fails from one", map[string]bool{north: true})
		all := map[string]bool{}
		for _, r := range f.Requests() {
			if r.Verb == "metrics" {
				all[r.ID.Name] = true
			}
		}
		assert.Len(t, all, probe.ProbedPods, "some pods stand for all")
		f.RemovePod("shop", "dns-12")
		s.untilUpstreams("which is gone", map[string]bool{north: false})
	})
}

func TestMetricsThatCannotBeReadLeaveWhatWasSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, stop := resolving(t)
		unread := func() string {
			if dns := s.daemonSet().DNS; dns != nil {
				return dns.Unread
			}
			return ""
		}
		f.SetPod("shop", dnsPod("dns-1"))
		s.until("nothing answers", func() bool {
			return strings.Contains(unread(), "the metrics of pod dns-1 cannot be read: error trying to reach service")
		})
		assert.Empty(t, s.upstreams(), "nothing is known of any upstream (I6)")
		f.SetMetrics("shop", "dns-1", cluster.Metrics{{Name: "go_goroutines", Value: 7}})
		s.until("something else answers", func() bool { return unread() == "what pod dns-1 serves as metrics is not CoreDNS'" })
		f.SetMetrics("shop", "dns-1", counted(map[string]float64{north: 0}))
		s.untilUpstreams("it is read", map[string]bool{north: false})
		assert.Empty(t, unread())
		before := s.daemonSet().DNS.Upstreams

		f.SetMetrics("shop", "dns-1", nil)
		s.until("it answers no more", func() bool { return unread() != "" })
		assert.Equal(t, before, s.daemonSet().DNS.Upstreams, "what was seen stays")
		stop()
		s.start("b")
		f.Podless(&fault.Error{Fault: fault.Refused, Code: 403, Message: "pods is forbidden"})
		s.until("the pods may not be seen", func() bool { return unread() == "its pods cannot be watched: pods is forbidden" })
		assert.Equal(t, before, s.daemonSet().DNS.Upstreams, "over a takeover too")
	})
}

// TestNobodyKnowsHowUpstreamsDoWhenTheLastDNSPodIsGone: over the store, too.
func TestNobodyKnowsHowUpstreamsDoWhenTheLastDNSPodIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := resolving(t)
		f.SetMetrics("shop", "dns-1", counted(map[string]float64{north: 0}))
		f.SetPod("shop", dnsPod("dns-1"))
		s.untilUpstreams("it does well", map[string]bool{north: false})
		f.RemovePod("shop", "dns-1")
		s.until("that is old", func() bool { return s.daemonSet().DNS.Unread == "no DNS pod is ready" })
		assert.Equal(t, map[string]bool{north: false}, s.upstreams(), "what was seen stays")
		f.SetPod("shop", dnsPod("dns-1"))
		s.until("a pod was asked again", func() bool { return s.daemonSet().DNS.Unread == "" })
	})
}

// walked is what the cache of a node serves after so many answers in search
// domains, and so many replies of a server that did not know the option. It has
// counted each in two blocks.
func walked(answers, unsupported float64) cluster.Metrics {
	metrics := counted(map[string]float64{north: 0})
	for name, count := range map[string]float64{"coredns_searchpath_answers_total": answers, "coredns_searchpath_unsupported_total": unsupported} {
		for _, server := range []string{"dns://.:53", "dns://foo.com.:53"} {
			metrics = append(metrics, cluster.Sample{Name: name, Labels: map[string]string{"server": server}, Value: count / 2})
		}
	}
	return metrics
}

// TestAServerThatDoesNotKnowTheOptionIsDetected is the third risk of seed "DNS
// autopath in PodSpec": told while it is so, and no longer.
func TestAServerThatDoesNotKnowTheOptionIsDetected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, stop := resolving(t)
		unsupported := func() string {
			if dns := s.daemonSet().DNS; dns != nil && dns.Unsupported != nil {
				return strconv.FormatBool(*dns.Unsupported)
			}
			return "not known"
		}
		tell := func(answers, unsupported float64) { f.SetMetrics("shop", "dns-1", walked(answers, unsupported)) }
		tell(0, 0)
		f.SetPod("shop", dnsPod("dns-1"))
		s.untilUpstreams("it was asked twice", map[string]bool{north: false})
		assert.Equal(t, "not known", unsupported(), "nobody asked for a name in a search domain (I6)")
		tell(10, 0)
		s.until("it knows it", func() bool { return unsupported() == "false" })
		tell(12, 2)
		s.until("it does not", func() bool { return unsupported() == "true" })
		s.until("the log tells", func() bool {
			return strings.Contains(s.log.String(), "an upstream does not know the EDNS0 option with search paths")
		})
		stop()
		w, _ := s.start("b")
		s.settled(w, clusterDNS(t)...)
		s.untilUpstreams("nobody asked since", map[string]bool{north: false})
		assert.Equal(t, "true", unsupported(), "that was the last that is known")
		answers := 12.0
		s.until("it was replaced", func() bool {
			answers++
			tell(answers, 2)
			return unsupported() == "false"
		})
	})
}
