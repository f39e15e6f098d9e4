package controller

import (
	"sync"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/clusters"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/orchestration"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// newWorker makes as much of a Worker as a Controller without work to do needs.
func newWorker(store *state.Store) *Worker {
	store.Wakeups = &state.Wakeups{}
	orchestrates := make(chan struct{})
	return &Worker{
		Store: store, Inputs: &inputs.Reader{}, Ownership: &ownership.Registry{Store: store}, Tenancy: &tenancy.Keeper{Store: store}, Renderer: &render.Renderer{Store: store}, Clusters: &clusters.Operator{Store: store}, Follower: &follow.Follower{Store: store, EMCO: emco.NewStore(store.KV, store.Now)},
		Sync: &orchestration.Sync{Store: store, NoteEMCO: sync.OnceFunc(func() { close(orchestrates) })}, Orchestrates: orchestrates,
	}
}
