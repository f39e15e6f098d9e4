package controller

import (
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/clusters"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// newWorker makes as much of a Worker as a Controller without work to do needs.
func newWorker(store *state.Store) *Worker {
	store.Wakeups = &state.Wakeups{}
	return &Worker{
		Store: store, Inputs: &inputs.Reader{}, Renderer: &render.Renderer{Store: store}, Clusters: &clusters.Operator{Store: store}, Follower: &follow.Follower{Store: store, EMCO: emco.NewStore(store.KV, store.Now)},
		Orchestrates: make(chan struct{}),
	}
}
