package clustertest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// oneValue opens one sealed value.
type oneValue struct{ id, value string }

func (v oneValue) Secret(_ context.Context, id string) ([]byte, error) {
	if id != v.id {
		return nil, errors.New("there is no such value")
	}
	return []byte(v.value), nil
}

func TestFakeKeepsTheContract(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) Fixture {
		f := NewFake("cluster-1")
		f.Plant(Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "suite"}}))
		f.Plant(Object(t, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "dnsendpoints.externaldns.k8s.io"}}))
		return Fixture{
			Target:       f.Target(cluster.Options{Installation: "i1", Values: oneValue{"v1", "hush"}}),
			Installation: "i1", Namespace: "suite", Sealed: "v1",
			Plant:  func(_ *testing.T, o bundle.Object) { f.Plant(o) },
			Data:   func(_ *testing.T, id bundle.ID) map[string]string { return f.Data(id) },
			Remove: func(_ *testing.T, id bundle.ID) { f.Remove(id) },
			Run:    func(t *testing.T, pod RunPod) { runPod(t, f, pod) },
			Note:   func(_ *testing.T, id bundle.ID) { f.Note(id) },
			Join:   func(_ *testing.T, node placement.Node) { f.SetNode(node) },
			Beat:   func(*testing.T, string) {}, // nothing of it is kept
			Leave:  func(_ *testing.T, node string) { f.RemoveNode(node) },
			Offer: func(_ *testing.T, name, ip string) {
				f.SetService("suite", name, address.Observation{Found: true, Candidates: []address.Candidate{
					{Kind: address.LoadBalancer, Target: ip, Field: "status.loadBalancer.ingress[0].ip"}}})
			},
		}
	}
	Run(t, open)
	RunServer(t, open)
}

func runPod(t *testing.T, f *Fake, pod RunPod) {
	t.Helper()
	p := cluster.Pod{
		Name: pod.Name, Labels: podLabels(), Ready: pod.Crash == "", Args: []string{"--interval=5s"},
		Ports: map[string]int32{"metrics": 7979}, Secrets: []string{"credentials"},
	}
	if pod.Crash != "" {
		p.Trouble = "crash loop: " + pod.Crash
	}
	if pod.Metrics != "" {
		metrics, err := cluster.ParseMetrics([]byte(pod.Metrics))
		require.NoError(t, err)
		f.SetMetrics("suite", pod.Name, metrics)
	}
	f.SetPod("suite", p)
}
