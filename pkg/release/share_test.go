package release_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
)

// replica is one of several, as controllers know it.
type replica struct {
	id      string
	working *atomic.Pointer[[]string]
	metrics *prometheus.Registry
	end     func()
}

func (r *replica) ID() string { return r.id }

func (r *replica) Working() []string { return *r.working.Load() }

// joins runs one more replica over a world's store.
func (w *world) joins(t *testing.T, id string, working *atomic.Pointer[[]string]) *replica {
	r := &replica{id: id, working: working, metrics: w.watched(w.fake, etcd.New(w.fake).WatchAll)}
	w.options.Replicas = r
	w.service = release.New(w.options)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	controller := release.NewController(w.service)
	go func() { ended <- controller.Run(ctx) }()
	r.end = func() {
		end()
		require.NoError(t, <-ended)
	}
	return r
}

// steps is how many steps a replica has made of a kind.
func (r *replica) steps(t *testing.T, kind string) (n uint64) {
	families, err := r.metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "signpost_step_duration_seconds" {
			for _, m := range family.GetMetric() {
				if strings.Contains(m.String(), `"`+kind+`"`) {
					n += m.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	return n
}

// TestReplicasDivideTheOwners: a change is followed by one replica, and each has some of them. What one leaves that
// dies, the other one follows as soon as it knows, though it was told before.
func TestReplicasDivideTheOwners(t *testing.T) {
	t.Parallel()
	const others = 20
	w := newCrowdedShop(t, others)
	synctest.Test(t, func(t *testing.T) {
		var working atomic.Pointer[[]string]
		working.Store(&[]string{"a", "b"})
		a, b := w.joins(t, "a", &working), w.joins(t, "b", &working)
		time.Sleep(time.Minute) // both have looked at all that they have
		moves := func(last int) {
			for n := range others {
				w.observe(berlin, fmt.Sprintf("shop/app%d", n), fmt.Sprintf("203.0.113.%d", last))
			}
		}
		follow := func(last int) (count int) {
			for n := range others {
				group := intent.Path(fmt.Sprintf("projects/shop/composite-apps/store/v1/deployment-intent-groups/g%03d", n))
				if w.publishes(group, fmt.Sprintf("203.0.113.%d", last)) {
					count++
				}
			}
			return count
		}
		beforeA, beforeB := a.steps(t, "addresses"), b.steps(t, "addresses")
		moves(11)
		time.Sleep(5 * time.Second)
		require.Equal(t, others, follow(11))
		byA, byB := a.steps(t, "addresses")-beforeA, b.steps(t, "addresses")-beforeB
		require.Positive(t, byA)
		require.Positive(t, byB)
		require.EqualValues(t, others, byA+byB, "each once")

		b.end()
		working.Store(new([]string)) // a is cut off as well, and keeps what it knew
		time.Sleep(5 * time.Second)
		moves(12)
		time.Sleep(5 * time.Second)
		require.EqualValues(t, byA, follow(12), "nobody knows yet that b is dead")
		working.Store(&[]string{"a"})
		time.Sleep(5 * time.Second)
		require.Equal(t, others, follow(12))
		a.end()
	})
}

// TestAReplicaThatBeginsLooksOnce at the owners of one that was killed before: its lease runs out later.
func TestAReplicaThatBeginsLooksOnce(t *testing.T) {
	t.Parallel()
	const others, inRounds = 20, 3
	w := newCrowdedShop(t, others)
	synctest.Test(t, func(t *testing.T) {
		var working atomic.Pointer[[]string]
		working.Store(&[]string{"a", "killed"})
		a := w.joins(t, "a", &working)
		time.Sleep(10 * time.Second)
		looked := a.steps(t, "group")
		require.GreaterOrEqual(t, looked, uint64(others))
		time.Sleep(5 * time.Second)
		working.Store(&[]string{"a"})
		time.Sleep(10 * time.Second)
		require.LessOrEqual(t, a.steps(t, "group"), looked+inRounds)
		a.end()
	})
}
