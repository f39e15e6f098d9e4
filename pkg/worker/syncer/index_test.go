package syncer

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// tardy are contexts whose watch has stopped to tell, once before is called:
// ahead of the next question whether any has moved.
type tardy struct {
	*appcontext.Store
	before atomic.Pointer[func()]
	silent atomic.Bool
}

func (c *tardy) Moved(ctx context.Context) (last, revision int64, err error) {
	if before := c.before.Swap(nil); before != nil {
		c.silent.Store(true)
		(*before)()
	}
	return c.Store.Moved(ctx)
}

func (c *tardy) Watch(ctx context.Context, from int64) <-chan appcontext.Change {
	out, changes := make(chan appcontext.Change), c.Store.Watch(ctx, from)
	go func() {
		defer close(out)
		for change := range changes {
			if c.silent.Load() {
				continue
			}
			select {
			case out <- change:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// impatient is a clock for those who wait for nothing that takes a second.
type impatient struct{}

func (impatient) Now() time.Time { return time.Now() }

func (impatient) After(d time.Duration) <-chan time.Time {
	if d < time.Second {
		return time.After(d)
	}
	return nil
}

// TestWhatAReadFindsWakesWhomItConcerns: a step reads all pointers before it
// deletes something, if the watch does not tell of the last ones. What it finds may concern
// other clusters, or whoever observes this one. The watch, which comes later, has no news then.
func TestWhatAReadFindsWakesWhomItConcerns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub, berlin)
		s.clock = impatient{}
		late := &tardy{Store: s.contexts}
		s.watched = late
		w, _ := s.start("a")
		web := map[string][]string{hub: {"shop/web"}}
		s.commitWith("front", appcontext.Context{Services: web}, namespace(t, berlin))
		s.commit("back", namespace(t, hub), config(t, hub, "old", "1"))
		s.settled(w, namespace(t, berlin), namespace(t, hub), config(t, hub, "old", "1"))
		s.until("the Service is observed", func() bool { return s.seen(hub) != nil })

		added := config(t, berlin, "new", "1")
		between := func() { s.commit("front", namespace(t, berlin), added) }
		late.before.Store(&between)
		s.commit("back", namespace(t, hub))
		s.until("the other cluster gets what is new there", func() bool { return s.entries(berlin)[added.ID].Status == ledger.Applied })
		s.until("what is observed for nobody is forgotten", func() bool { return s.seen(hub) == nil })
	})
}

// TestATakeoverThatHangsHoldsUpNoOtherCluster: while the store does not answer for
// one cluster, the steps of the others tell whom what they find concerns.
func TestATakeoverThatHangsHoldsUpNoOtherCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub, berlin)
	asked, answered := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	s.kv.Before = func(op, key string) error {
		if op == "txn" && key == workerPrefix+berlin {
			once()
			<-answered
		}
		return nil
	}
	w, _ := s.start("a")
	s.commit("front", namespace(t, hub))
	s.settled(w, namespace(t, hub))
	s.commit("front", namespace(t, hub), namespace(t, berlin))
	<-asked
	w.mu.Lock()
	session := w.session
	w.mu.Unlock()
	told := make(chan struct{})
	go func() {
		session.wakeClusters([]string{hub})
		close(told)
	}()
	s.until("the other cluster is woken", func() bool {
		select {
		case <-told:
			return true
		default:
			return false
		}
	})
	loading := func(wantDone, wantTotal int, want bool) func() bool {
		return func() bool {
			done, total, is := w.Loading()
			return done == wantDone && total == wantTotal && is == want
		}
	}
	s.until("one cluster of two is loaded", loading(1, 2, true))
	close(answered)
	s.settled(w, namespace(t, berlin))
	s.until("both are loaded", loading(2, 2, false))
}
