package syncer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/link"
)

func everyKey() kv.Range { return kv.Range{Prefix: "/"} }

func TestWhatWasDeletedGoesFromAClusterThatWasDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub, berlin)
		f := s.clusters[berlin]
		w, stop := s.start("a")
		objects := append(everything(t, hub), namespace(t, berlin), config(t, berlin, "a", "1"))
		s.commit("dig", objects...)
		s.settled(w, objects...)
		f.Down(true)
		s.commit("dig", everything(t, hub)...) // an update that drops the cluster
		s.until("the entry tells", func() bool {
			e := s.entries(berlin)[objects[6].ID]
			return e.Going && e.Status == ledger.Retrying
		})
		stop()
		s.start("b")
		s.commit("dig") // terminated while the cluster is down still
		s.until("the rest goes", func() bool { return len(s.entries(hub)) == 0 })
		assert.NotNil(t, f.Live(objects[6].ID))
		f.Down(false)
		s.until("it goes when the cluster is back (I5)", func() bool { return f.Live(objects[6].ID) == nil && len(s.entries(berlin)) == 0 })
	})
}

func TestInstantiatedAgainWhileTheClusterIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, berlin)
		f := s.clusters[berlin]
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, berlin), config(t, berlin, "a", "1"), config(t, berlin, "b", "1")}
		s.commit("dig", objects...)
		s.settled(w, objects...)
		kept := f.Live(objects[1].ID)
		f.Down(true)
		s.commit("dig")
		s.until("it is to go", func() bool { return s.entries(berlin)[objects[1].ID].Going })
		s.commit("dig", objects[:2]...)
		s.until("it is to stay", func() bool { return !s.entries(berlin)[objects[1].ID].Going })
		f.Down(false)
		s.until("what is wanted again stays, the rest goes", func() bool {
			return f.Live(objects[2].ID) == nil && len(s.entries(berlin)) == 2
		})
		s.settled(w, objects[:2]...)
		assert.Equal(t, kept, f.Live(objects[1].ID))
	})
}

func TestHungClusterDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub, berlin)
		release := s.clusters[berlin].Hang()
		defer release()
		_, stop := s.start("a")
		objects := everything(t, hub)
		s.commit("dig", append(objects, namespace(t, berlin))...)
		began := time.Now()
		s.until("the other cluster is served (I7)", func() bool {
			for _, o := range objects {
				if s.entries(hub)[o.ID].Status != ledger.Applied {
					return false
				}
			}
			return true
		})
		assert.Less(t, time.Since(began), link.ConnectAtMost)
		began = time.Now()
		stop()
		assert.Less(t, time.Since(began), shutdownAtMost+releaseAtMost+patience/2, "nor the shutdown")
	})
}

func TestUnreachableIsNotFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Down(true)
		w, _ := s.start("a")
		objects := everything(t, hub)
		s.commit("dig", objects...)
		s.until("the entries tell", func() bool {
			e := s.entries(hub)[objects[0].ID]
			return e.Status == ledger.Retrying && e.Message == "the cluster cannot be reached: connection refused"
		})
		s.until("so does the observation", func() bool {
			r, err := s.observed.Reachability(t.Context(), hub)
			require.NoError(t, err)
			return r != nil && !r.Reachable && r.Message == "connection refused"
		})
		assert.Empty(t, beyondProbes(f), "a cluster that does not answer is probed, and nothing else")
		f.Down(false)
		s.settled(w, objects...)
		s.until("and when it is back", func() bool {
			r, err := s.observed.Reachability(t.Context(), hub)
			require.NoError(t, err)
			return r != nil && r.Reachable && r.Message == ""
		})
	})
}

// Since when a cluster does not answer is counted by its owner, for as long as
// that owns it.
func TestItsOwnerCountsSinceWhenAClusterDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		s.clock = hasty{time.Now()}
		f := s.clusters[hub]
		refusal := &fault.Error{Fault: fault.Unreachable, Code: 401, Message: "Unauthorized"}
		var answer atomic.Pointer[fault.Error]
		f.Before = func(context.Context, string, bundle.ID) error {
			if e := answer.Load(); e != nil {
				return e
			}
			return nil
		}
		_, stop := s.start("a")
		s.commit("dig", everything(t, hub)...)
		seen := func(why, message string) observed.Reachability {
			t.Helper()
			var last *observed.Reachability
			s.until(why, func() bool {
				r, err := s.observed.Reachability(t.Context(), hub)
				require.NoError(t, err)
				last = r
				return r != nil && r.Message == message
			})
			return *last
		}
		owner := func() int64 {
			item, _, err := s.kv.Get(t.Context(), workerPrefix+hub)
			require.NoError(t, err)
			return item.ModRevision
		}
		well := seen("the cluster answers", "")
		assert.Zero(t, well.Counted)
		assert.Equal(t, owner(), well.Owner)

		f.Down(true)
		first := seen("it is down", "connection refused")
		assert.Equal(t, first.Since, first.Counted)
		answer.Store(&fault.Error{Fault: fault.Unreachable, Message: "no answer in time"})
		f.Down(false)
		assert.Equal(t, first.Counted, seen("it fails in another way", "no answer in time").Counted, "which is no break")
		stop()
		time.Sleep(time.Second) // of synctest's clock: the next owner counts from later on
		s.start("b")
		s.until("the next owner begins anew", func() bool {
			r, err := s.observed.Reachability(t.Context(), hub)
			require.NoError(t, err)
			return r.Owner > first.Owner && r.Owner == owner() && r.Counted.After(first.Counted) && r.Since.Equal(first.Since)
		})
		answer.Store(refusal)
		assert.Zero(t, seen("a cluster that turns Signpost away is there", "Unauthorized").Counted)
		answer.Store(nil)
		assert.Zero(t, seen("it is back", "").Counted)
	})
}

func TestClusterWithoutDocumentSaysSo(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	s.refused[hub] = errors.New("cluster edge+hub is inventory only")
	w, _ := s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.until("the entries tell", func() bool {
		e := s.entries(hub)[objects[0].ID]
		return e.Status == ledger.Retrying && e.Message == "the cluster cannot be reached: cluster edge+hub is inventory only"
	})
	s.until("so does the observation, which is not that it does not answer", func() bool {
		r, err := s.observed.Reachability(t.Context(), hub)
		require.NoError(t, err)
		return r != nil && !r.Reachable && r.Counted.IsZero()
	})
	s.refuse(hub, nil)
	s.settled(w, objects...)
}

func TestRebuiltClusterStartsOver(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.settled(w, objects...)
	f.Rebuild("another uid")
	s.changed <- hub
	s.until("everything is made anew", func() bool {
		for _, o := range objects {
			if live := f.Live(o.ID); live == nil || s.entries(hub)[o.ID].UID != live.UID {
				return false
			}
		}
		return true
	})
	s.until("it is known as another one", func() bool {
		uid, err := s.ledger.Identity(t.Context(), hub)
		require.NoError(t, err)
		return uid == "another uid"
	})
}

func offer(ip string) address.Observation {
	return address.Observation{Found: true, Candidates: []address.Candidate{{Target: ip, Field: "status.loadBalancer.ingress[0].ip"}}}
}

func (s *scene) seen(name string) *address.Observation {
	s.t.Helper()
	o, err := s.observed.Service(s.t.Context(), address.Service{Cluster: name, Namespace: "shop", Name: "web"})
	require.NoError(s.t, err)
	if o == nil {
		return nil
	}
	assert.WithinDuration(s.t, time.Now(), o.Changed, time.Hour)
	o.Changed = time.Time{}
	return &o.Observation
}

func TestAddressesAreObservedAndUnknownIsNotEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, berlin)
		f := s.clusters[berlin]
		_, stop := s.start("a")
		web := map[string][]string{berlin: {"shop/web"}}
		f.Blind(true)
		s.commitWith("dig", appcontext.Context{Services: web})
		s.until("the cluster is reached", func() bool { r, _ := s.observed.Reachability(t.Context(), berlin); return r != nil })
		assert.Nil(t, s.seen(berlin), "what was not seen is not there")
		f.Blind(false)
		s.until("absence is observed", func() bool { o := s.seen(berlin); return o != nil && !o.Found })

		for _, ip := range []string{"203.0.113.10", "203.0.113.11"} {
			began := time.Now()
			f.SetService("shop", "web", offer(ip))
			s.until("a changed address is written at once", func() bool { return assert.ObjectsAreEqual(s.seen(berlin), ptr(offer(ip))) })
			assert.Less(t, time.Since(began), link.ProbeInterval)
		}
		last := offer("203.0.113.11")
		f.Down(true)
		s.commit("other", config(t, berlin, "a", "1"))
		s.until("the cluster is known to be down", func() bool {
			r, _ := s.observed.Reachability(t.Context(), berlin)
			return r != nil && !r.Reachable
		})
		assert.Equal(t, &last, s.seen(berlin), "what it was last seen to offer stays (I11)")
		stop()
		w, _ := s.start("b")
		s.until("the new worker has tried", func() bool { return len(s.entries(berlin)) == 1 })
		assert.Equal(t, &last, s.seen(berlin), "through a restart too")
		s.commit("other")
		s.commit("dig")
		s.until("it goes when nobody names it", func() bool { return s.seen(berlin) == nil })
		f.Down(false)
		s.until("and the cluster is let go of", func() bool {
			items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: workerPrefix})
			return err == nil && len(items) == 0 && w.Idle()
		})
	})
}

func ptr[T any](v T) *T { return &v }

func TestDeploymentsAreObserved(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.settled(w, objects...)
	state := func() string {
		d, err := s.observed.Deployment(t.Context(), hub, "shop", "external-dns-lab")
		require.NoError(t, err)
		switch {
		case d == nil:
			return "unknown"
		case d.Available:
			return "available"
		}
		return d.Message
	}
	f.SetAvailability("shop", "external-dns-lab", cluster.Availability{Message: "image cannot be pulled"})
	s.until("it is not available", func() bool { return state() == "image cannot be pulled" })
	f.SetAvailability("shop", "external-dns-lab", cluster.Availability{Available: true, Ready: 1})
	s.until("it is available", func() bool { return state() == "available" })
	d, err := s.observed.Deployment(t.Context(), hub, "shop", "external-dns-lab")
	require.NoError(t, err)
	assert.False(t, d.Since.IsZero(), "and since when")
	s.commit("dig")
	s.until("it is forgotten", func() bool { return state() == "unknown" })
}

func TestWorkersShareClustersAndTakeOver(t *testing.T) {
	t.Parallel()
	names := []string{"edge+c1", "edge+c2", "edge+c3", "edge+c4", "edge+c5", "edge+c6", "edge+c7", "edge+c8"}
	s := newScene(t, names...)
	owners := func() map[string]int {
		items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: workerPrefix})
		require.NoError(t, err)
		out := map[string]int{}
		for _, item := range items {
			out[string(item.Value)]++
		}
		return out
	}
	var objects []bundle.Object
	for _, name := range names {
		objects = append(objects, namespace(t, name), config(t, name, "a", "1"))
	}
	_, stop := s.start("a")
	s.commit("dig", objects...)
	s.until("one worker serves them all", func() bool { return owners()["a"] == len(names) })
	s.start("b")
	s.until("a second one gets a share", func() bool { o := owners(); return o["a"] > 0 && o["b"] > 0 && o["a"]+o["b"] == len(names) })
	s.until("everything is applied", func() bool {
		for _, o := range objects {
			if s.entries(o.Cluster)[o.ID].Status != ledger.Applied {
				return false
			}
		}
		return true
	})
	stop()
	s.until("the other takes over", func() bool { return owners()["b"] == len(names) })
	for _, o := range objects {
		s.clusters[o.Cluster].Remove(config(t, o.Cluster, "a", "1").ID)
	}
	s.until("and serves", func() bool {
		for _, name := range names {
			if s.clusters[name].Live(config(t, name, "a", "1").ID) == nil {
				return false
			}
		}
		return true
	})
}

func TestWorkerThatLostItsLeaseWritesNothingMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		w, _ := s.start("a")
		objects := everything(t, hub)
		s.commit("dig", objects...)
		s.settled(w, objects...)
		s.kv.Expire(1)
		s.until("it begins again under a new lease", func() bool {
			items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: workerPrefix})
			return err == nil && len(items) == 1 && w.Idle()
		})
		more := config(t, hub, "a", "1")
		s.commit("more", more)
		s.settled(w, more)
	})
}
