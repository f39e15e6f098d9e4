package release_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// TestRacingReplicasAgree: whatever requests and steps of several replicas come
// between each other, the external-dns that two groups share is there at the
// end if a group uses it, and gone if none does (I10).
func TestRacingReplicasAgree(t *testing.T) {
	t.Parallel()
	const replicas, deeds = 4, 25
	for _, seed := range seeds(t, 2, 8, 40) {
		w := newShop(t)
		w.group(test, "api", "api.lab.example")
		w.observe(berlin, "shop/api", "203.0.113.30")
		var running sync.WaitGroup
		for replica := range uint64(replicas) {
			service := release.New(w.options)
			random := rand.New(rand.NewPCG(seed, replica))
			running.Go(func() {
				for range deeds {
					w.randomDeed(service, random)
				}
			})
		}
		running.Wait()
		require.NoError(t, w.rest())
		w.outlive()
		w.outlive()
		w.settle(prod, test)
		w.agree()
	}
}

// randomDeed does one of the things that replicas do.
func (w *world) randomDeed(service *release.Service, random *rand.Rand) {
	ctx := context.Background()
	group := []intent.Path{prod, test}[random.IntN(2)]
	var err error
	switch random.IntN(8) {
	case 0:
		_, err = service.Instantiate(ctx, group, "", "ann")
	case 1:
		_, err = service.Update(ctx, group, "", "bob")
	case 2, 3:
		_, err = service.Terminate(ctx, group, false, "", "cid")
	case 4:
		err = service.StepProvider(ctx, labOnHub)
	case 5:
		w.clock.pass(40 * time.Second)
		err = service.StepRecord(ctx, lab)
	default:
		_, err = service.StepGroup(ctx, group)
	}
	w.mayBeRefused(err)
}

// agree checks what the stories promise of a world at rest.
func (w *world) agree() {
	w.Helper()
	used := false
	for _, group := range []intent.Path{prod, test} {
		snap := w.snapshot(group)
		deployed := slices.Contains([]intent.State{intent.Instantiated}, snap.Lifecycle.State())
		require.Contains(w, []intent.State{intent.Created, intent.Instantiated, intent.Terminated}, snap.Lifecycle.State())
		require.Len(w, w.published(group), map[bool]int{true: 1}[deployed], "%s is %s", group, snap.Lifecycle.State())
		used = used || deployed
	}
	require.Equal(w, used, w.deployment(labOnHub) != "", "external-dns is there if and only if it is used")
	if !used {
		require.Empty(w, w.inClusters())
		require.NoError(w, w.delete(lab), "nothing refers to the record")
		return
	}
	require.Equal(w, intent.Conflict, intent.CodeOf(w.delete(lab)), "the record is deployed")
	require.Contains(w, w.inClusters(), "edge+hub Deployment external-dns-lab")
}
