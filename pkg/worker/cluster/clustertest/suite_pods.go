package clustertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// RunPod is how the suite has a pod of an external-dns run. It has a container
// "external-dns" with a port "metrics", an argument "--interval=5s", and the labels of
// record "lab" of project "shop".
type RunPod struct {
	Name    string
	Crash   string // the last words of a container that ends over and over; empty: it is ready
	Metrics string // what it serves; empty: nothing answers
}

func podLabels() map[string]string {
	return map[string]string{bundle.LabelProject: "shop", bundle.LabelRecord: "lab"}
}

func (f Fixture) watchPods(t *testing.T) cluster.Watches {
	t.Helper()
	w := f.Target.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Pods: []string{f.Namespace}})
	return w
}

func testPods(t *testing.T, f Fixture) {
	if f.Run == nil {
		_, err := f.watchPods(t).Pods(f.Namespace, podLabels())
		wantFault(t, fault.Refused, err)
		return
	}
	w := f.watchPods(t)
	var pods []cluster.Pod
	see := func(why string, condition func() bool) {
		t.Helper()
		eventually(t, why, func() bool {
			var err error
			pods, err = w.Pods(f.Namespace, podLabels())
			return err == nil && condition()
		})
	}
	see("absence is positive knowledge", func() bool { return len(pods) == 0 })
	_, err := w.Pods("elsewhere", podLabels())
	require.Error(t, err, "what is not followed is unknown")

	f.Run(t, RunPod{Name: "lab-1"})
	see("a pod is seen to be ready", func() bool { return len(pods) == 1 && pods[0].Ready && pods[0].Trouble == "" })
	assert.Equal(t, "lab-1", pods[0].Name)
	assert.Equal(t, []string{"--interval=5s"}, pods[0].Args)
	assert.Contains(t, pods[0].Ports, "metrics")
	assert.Equal(t, []string{"credentials"}, pods[0].Secrets)
	others, err := w.Pods(f.Namespace, map[string]string{bundle.LabelRecord: "other"})
	require.NoError(t, err)
	assert.Empty(t, others)

	f.Run(t, RunPod{Name: "lab-1", Crash: "time=1\nlevel=fatal msg=\"no such zone\"\n"})
	see("a crash loop is seen", func() bool { return len(pods) == 1 && pods[0].Trouble != "" })
	assert.Contains(t, pods[0].Trouble, "crash loop")
	assert.Contains(t, pods[0].Trouble, `level=fatal msg="no such zone"`, "with its last words")
	assert.False(t, pods[0].Ready)
}

func testMetrics(t *testing.T, f Fixture) {
	if f.Run == nil {
		_, err := f.Target.Metrics(t.Context(), f.Namespace, "lab-1", 7979)
		wantFault(t, fault.Refused, err)
		return
	}
	w := f.watchPods(t)
	f.Run(t, RunPod{Name: "lab-1", Metrics: "# TYPE last gauge\nlast 1.5e9\n# TYPE all counter\nall{of=\"a\"} 2\nall{of=\"b\"} 3\n" +
		"# TYPE took histogram\ntook_bucket{to=\"a\",le=\"1\"} 2\ntook_bucket{to=\"a\",le=\"+Inf\"} 3\ntook_sum{to=\"a\"} 4\ntook_count{to=\"a\"} 3\n"})
	port := int32(0)
	eventually(t, "the pod is seen", func() bool {
		pods, err := w.Pods(f.Namespace, podLabels())
		if err != nil || len(pods) != 1 || !pods[0].Ready {
			return false
		}
		port = pods[0].Ports["metrics"]
		return true
	})
	metrics, err := f.Target.Metrics(t.Context(), f.Namespace, "lab-1", port)
	require.NoError(t, err)
	assert.ElementsMatch(t, cluster.Metrics{
		{Name: "last", Labels: map[string]string{}, Value: 1.5e9},
		{Name: "all", Labels: map[string]string{"of": "a"}, Value: 2}, {Name: "all", Labels: map[string]string{"of": "b"}, Value: 3},
		{Name: "took_count", Labels: map[string]string{"to": "a"}, Value: 3},
	}, metrics)
	assert.Equal(t, map[string]float64{"last": 1.5e9, "all": 5, "took_count": 3}, metrics.Sums())

	_, err = f.Target.Metrics(t.Context(), f.Namespace, "nobody", port)
	require.Error(t, err)
	f.Run(t, RunPod{Name: "lab-2"})
	eventually(t, "the pod is seen", func() bool {
		pods, err := w.Pods(f.Namespace, podLabels())
		return err == nil && len(pods) == 2
	})
	_, err = f.Target.Metrics(t.Context(), f.Namespace, "lab-2", port)
	wantFault(t, fault.Unreachable, err)
}

func testObserved(t *testing.T, f Fixture) {
	w := f.Target.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Kinds: []cluster.Kind{{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}}})
	endpoint := func(target string) bundle.Object {
		return Object(t, map[string]any{
			"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
			"metadata": map[string]any{"name": "a", "namespace": f.Namespace},
			"spec": map[string]any{"endpoints": []any{
				map[string]any{"dnsName": "www.lab.example", "recordType": "A", "targets": []any{target}}}},
		})
	}
	made := f.create(t, endpoint("203.0.113.1"))
	sees := func(why string, condition func(live *cluster.Live) bool) {
		t.Helper()
		eventually(t, why, func() bool {
			s := w.Object(endpoint("").ID, "")
			return s.Known && s.Live != nil && condition(s.Live)
		})
	}
	sees("external-dns has read nothing yet", func(l *cluster.Live) bool { return l.Generation == made.Generation && l.Observed == 0 })
	f.Note(t, endpoint("").ID)
	sees("it has", func(l *cluster.Live) bool { return l.Observed == made.Generation })
	changed, err := f.Target.Apply(t.Context(), endpoint("203.0.113.2"), f.get(t, endpoint("").ID).Version)
	require.NoError(t, err)
	require.Greater(t, changed.Generation, made.Generation)
	sees("it has not read the change", func(l *cluster.Live) bool { return l.Generation == changed.Generation && l.Observed == made.Generation })
}
