package release_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// deeds are how many a random history has.
const deeds = 40

// TestAnAbandonedClusterHoldsNobodyUp: whatever has happened before and happens
// meanwhile, once every cluster answers or is abandoned, a group terminates,
// and nothing holds the document of any cluster.
func TestAnAbandonedClusterHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 5, 20, 200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := manned(t)
			w.wander(rand.New(rand.NewPCG(seed, 1)))
			for _, cluster := range []string{hub, berlin, paris} {
				if w.abandoned(cluster) == nil {
					delete(w.down, cluster)
				}
			}
			_, err := w.try(intent.Terminate, prod, "")
			require.NoError(t, err)
			w.outlive()
			w.outlive()
			require.Equal(t, intent.Terminated, w.state(prod), "%+v", w.snapshot(prod).Lifecycle)
			w.put(eu, `{"namespace":"shop"}`)
			for _, name := range []string{"hub", "berlin", "paris"} {
				w.mayBeGone(w.delete(eu.Child("cluster-references", name)))
				w.unregister(name)
				_, err := w.documents.Get(t.Context(), clusterPath(t, "edge+"+name))
				require.Equal(t, intent.NotFound, intent.CodeOf(err), "nothing holds %s: %v", name, w.delete(clusterPath(t, "edge+"+name)))
			}
			require.NoError(t, w.service.LiftAbandoned(context.Background()))
			require.Empty(t, w.inClusters())
		})
	}
}

// unregister deletes a cluster's document, if nothing holds it.
func (w *world) unregister(name string) {
	path := clusterPath(w.TB, "edge+"+name)
	w.mayBeGone(w.delete(path.Child("kv-pairs", intent.AssociationName)))
	w.mayBeGone(w.delete(path))
}

// mayBeGone takes the outcome of a deletion of what may be gone already, or may
// be held.
func (w *world) mayBeGone(err error) {
	w.Helper()
	if intent.CodeOf(err) != intent.NotFound {
		w.mayBeRefused(err)
	}
}

// wander does deeds by chance. What is refused is refused.
func (w *world) wander(random *rand.Rand) {
	w.Helper()
	clusters := []string{"hub", "berlin", "paris"}
	for range deeds {
		name := clusters[random.IntN(len(clusters))]
		cluster := "edge+" + name
		switch random.IntN(12) {
		case 0:
			w.mayBeRefused(asks(intent.Instantiate, prod)(w))
		case 1:
			w.mayBeRefused(asks(intent.Update, prod)(w))
		case 2:
			w.mayBeRefused(asks(intent.Terminate, prod)(w))
		case 3:
			w.down[cluster] = true
		case 4:
			if w.abandoned(cluster) == nil {
				delete(w.down, cluster)
			}
		case 5:
			w.down[cluster] = true
			_, err := w.abandon(cluster, true)
			require.NoError(w, err)
		case 6:
			w.mayBeGone(w.delete(eu.Child("cluster-references", name)))
			w.unregister(name)
			w.register(name)
		case 7:
			w.mayBeRefused(w.moveTo(name))
		case 8:
			w.member(eu, name)
		case 9:
			w.clock.pass(30 * time.Second)
		default:
			require.NoError(w, w.step(lab))
			require.NoError(w, w.step(prod))
			w.applyAll()
		}
	}
}

// register puts a cluster's document, if there is none.
func (w *world) register(name string) {
	w.Helper()
	path := clusterPath(w.TB, "edge+"+name)
	if _, err := w.documents.Get(context.Background(), path); err != nil {
		w.put(path, `{"kubeconfigRef":"sealed"}`)
		delete(w.down, "edge+"+name)
	}
}
