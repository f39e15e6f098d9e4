package clustertest

import (
	"context"
	"errors"
	"testing"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/cluster"
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
	Run(t, func(t *testing.T) Fixture {
		f := NewFake("cluster-1")
		f.Plant(Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "suite"}}))
		return Fixture{
			Target:       f.Target(cluster.Options{Installation: "i1", Values: oneValue{"v1", "hush"}}),
			Installation: "i1", Namespace: "suite", Sealed: "v1",
			Plant:  func(_ *testing.T, o bundle.Object) { f.Plant(o) },
			Remove: func(_ *testing.T, id bundle.ID) { f.Remove(id) },
			Offer: func(_ *testing.T, name, ip string) {
				f.SetService("suite", name, address.Observation{Found: true, Candidates: []address.Candidate{
					{Target: ip, Field: "status.loadBalancer.ingress[0].ip"}}})
			},
		}
	})
}
