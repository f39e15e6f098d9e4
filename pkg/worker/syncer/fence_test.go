package syncer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/apply"
)

// failOnce has one transaction on a key below prefix fail, the next one from
// when begin is called on. failed tells the store's revision at which it did, 0
// before. It is called before any worker starts.
func (s *scene) failOnce(prefix string) (begin func(), failed func() int64) {
	var begun atomic.Bool
	var at atomic.Int64
	s.kv.Before = func(op, key string) error {
		if op != "txn" || !strings.HasPrefix(key, prefix) || !begun.Load() || !at.CompareAndSwap(0, s.kv.Revision()) {
			return nil
		}
		return &intent.Error{Code: intent.Unavailable, Detail: "no leader"}
	}
	return func() { begun.Store(true) }, at.Load
}

func (s *scene) owner(name string) *kv.Item {
	item, _, err := s.kv.Get(context.Background(), workerPrefix+name)
	require.NoError(s.t, err)
	return item
}

// TestAWriteOfUnknownOutcomeIsFencedOff: it may still happen, over later ones.
// So the worker claims the cluster anew, and whatever was fenced by the old
// claim is refused.
func TestAWriteOfUnknownOutcomeIsFencedOff(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	begin, failed := s.failOnce("/signpost/ledger/")
	begin()
	s.commit("shop", everything(t, hub)...)
	w, _ := s.start("a")
	s.until("a write fails", func() bool { return failed() > 0 })
	s.settled(w, everything(t, hub)...)
	owner := s.owner(hub)
	require.Equal(t, "a", string(owner.Value))
	require.Greater(t, owner.ModRevision, failed(), "it was claimed anew")
}

// TestWhoStoodStillSendsNothing: a worker that has lost a cluster, and does not
// know it yet, puts nothing there any more: what it makes nobody would remove
// (I5).
func TestWhoStoodStillSendsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	s.commit("shop", everything(t, hub)...)
	w, _ := s.start("a")
	s.settled(w, everything(t, hub)...)
	s.clusters[hub].Forget()
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put(workerPrefix+hub, []byte("b")))
	require.NoError(t, err)
	s.clusters[hub].Remove(account(t, hub, "external-dns-lab").ID)
	s.until("it learns of the loss", func() bool { return strings.Contains(s.log.String(), "cluster lost") })
	require.Empty(t, writes(s.clusters[hub]))
}

// TestWhoStoodStillAmidRequestsSendsNoMore: not even those that were next.
func TestWhoStoodStillAmidRequestsSendsNoMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	clock := &leaping{}
	s.clock = clock
	var made atomic.Int64
	stand := sync.OnceFunc(func() {
		_, _, err := s.kv.Txn(context.Background(), nil, kv.Put(workerPrefix+hub, []byte("b")))
		assert.NoError(t, err) //nolint:testifylint // this is not the goroutine of the test
		clock.leap.Store(int64(2 * leaseSeconds * time.Second))
	})
	s.clusters[hub].Before = func(_ context.Context, verb string, id bundle.ID) error {
		if verb == "create" && id.Kind == "ConfigMap" {
			made.Add(1)
			stand() // all that are under way
		}
		return nil
	}
	objects := []bundle.Object{namespace(t, hub)}
	for n := range 100 {
		objects = append(objects, config(t, hub, fmt.Sprint("a", n), "1"))
	}
	s.commit("shop", objects...)
	s.start("a")
	s.until("it learns of the loss", func() bool { return strings.Contains(s.log.String(), "cluster lost") })
	require.LessOrEqual(t, made.Load(), int64(apply.Parallel), "those that were under way")
}

// leaping is the real time, and then some.
type leaping struct{ leap atomic.Int64 }

func (l *leaping) Now() time.Time { return time.Now().Add(time.Duration(l.leap.Load())) }

func (l *leaping) After(d time.Duration) <-chan time.Time { return time.After(d) }

// TestAClusterIsLetGoOfUntilThatSucceeds: a key that could not be deleted kept
// the cluster from everybody, for as long as the worker lived (I3).
func TestAClusterIsLetGoOfUntilThatSucceeds(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	begin, failed := s.failOnce(workerPrefix + hub)
	s.commit("shop", everything(t, hub)...)
	w, _ := s.start("a")
	s.settled(w, everything(t, hub)...)
	begin()
	s.start(preferredTo("a", hub))
	s.until("letting go fails", func() bool { return failed() > 0 })
	s.until("another takes over", func() bool {
		owner := s.owner(hub)
		return owner != nil && string(owner.Value) != "a"
	})
}

// preferredTo finds the name of a worker that a cluster falls to rather than
// to another one.
func preferredTo(other, cluster string) string {
	for n := 0; ; n++ {
		name := fmt.Sprint("b", n)
		t := &leaseSession{members: &keys{have: map[string]string{memberPrefix + other: "", memberPrefix + name: ""}}}
		if t.preferred(cluster) == name {
			return name
		}
	}
}
