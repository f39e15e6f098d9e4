package observe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/index"
	"github.com/signpost-dns/signpost/pkg/worker/lookup"
	"github.com/signpost-dns/signpost/pkg/worker/pace"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

const hub = "edge+hub"

// moving are contexts of which one moves right after the question whether any has.
type moving struct {
	*appcontext.Store
	move func()
}

func (m *moving) Moved(ctx context.Context) (last, revision int64, err error) {
	last, revision, err = m.Store.Moved(ctx)
	m.move()
	return last, revision, err
}

// hazy are watches that know a Service some time after they were asked for it, and tell nobody.
type hazy struct {
	cluster.Watches
	known bool
	asked int
}

func (h *hazy) Service(string, string) (address.Observation, bool) {
	h.asked++
	return address.Observation{Found: true}, h.known
}

// TestAServiceOfWhichNothingWasKnownIsLookedAtAgain although nobody tells that it is known by now.
func TestAServiceOfWhichNothingWasKnownIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := kvtest.NewFake()
		contexts := appcontext.NewStore(store, time.Now)
		claim := "/signpost/workers/" + hub
		_, revision, err := store.Txn(t.Context(), nil, kv.Put(claim, nil))
		require.NoError(t, err)
		of := &state.Cluster{Name: hub, Index: index.New(contexts, func([]string) {}), Fence: kv.Compare{Key: claim, ModRevision: revision}, Clock: pace.Wall{}, Signals: state.NewSignals()}
		_, err = contexts.Commit(t.Context(), appcontext.Pointer{Owner: "web"}, appcontext.Context{ID: appcontext.NewID(), Services: map[string][]string{hub: {"shop/web"}}})
		require.NoError(t, err)
		_, err = of.Index.Read(t.Context())
		require.NoError(t, err)
		seen := &hazy{}
		of.SetWatches(seen, nil)
		o := New(of, observed.New(store), lookup.New(nil, of.Clock, nil, of.Offered))
		require.NoError(t, o.open(t.Context()))
		require.NoError(t, o.services(t.Context()))
		seen.known = true
		require.NoError(t, o.services(t.Context()))
		require.Equal(t, 1, seen.asked, "not at once")
		require.Equal(t, againEvery, o.rest())
		time.Sleep(every)
		require.NoError(t, o.services(t.Context()))
		require.Equal(t, []string{"shop/web"}, o.writer.Services())
		require.Equal(t, every, o.rest())
		time.Sleep(every)
		require.NoError(t, o.services(t.Context()))
		require.Equal(t, 2, seen.asked, "once it is known, it is left alone")
	})
}

// TestWhatANewContextAsksForIsKept although nobody asked for it when the contexts were read.
func TestWhatANewContextAsksForIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := kvtest.NewFake()
		contexts := &moving{Store: appcontext.NewStore(store, time.Now)}
		contexts.move = func() {
			contexts.move = func() {}
			_, err := contexts.Commit(t.Context(), appcontext.Pointer{Owner: "web"}, appcontext.Context{
				ID: appcontext.NewID(), Services: map[string][]string{hub: {"shop/web"}},
			})
			require.NoError(t, err)
		}
		claim := "/signpost/workers/" + hub
		_, revision, err := store.Txn(t.Context(), nil, kv.Put(claim, nil))
		require.NoError(t, err)
		of := &state.Cluster{Name: hub, Index: index.New(contexts, func([]string) {}), Fence: kv.Compare{Key: claim, ModRevision: revision}}
		o := New(of, observed.New(store), nil)
		require.NoError(t, o.open(t.Context()))
		require.NoError(t, o.writer.SetService(t.Context(), "shop", "web", address.Observation{Found: true}))
		require.NoError(t, o.writer.SetService(t.Context(), "shop", "other", address.Observation{Found: true}))
		add(o.turns.left, o.writer.Services())
		require.NoError(t, o.forget(t.Context()))
		seen := func(name string) *observed.Service {
			found, err := observed.New(store).Service(t.Context(), address.Service{Cluster: hub, Namespace: "shop", Name: name})
			require.NoError(t, err)
			return found
		}
		require.NotNil(t, seen("web"))
		require.Nil(t, seen("other"), "and the rest is forgotten")
	})
}

// TestPublishedDNSEndpointsAreWrittenAfterAFailure, together with those that were told of meanwhile.
func TestPublishedDNSEndpointsAreWrittenAfterAFailure(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	claim := "/signpost/workers/" + hub
	_, revision, err := store.Txn(t.Context(), nil, kv.Put(claim, nil))
	require.NoError(t, err)
	of := &state.Cluster{Name: hub, Fence: kv.Compare{Key: claim, ModRevision: revision}, Clock: pace.Wall{}, Signals: state.NewSignals()}
	all := observed.New(store)
	o := New(of, all, nil)
	require.NoError(t, o.open(t.Context()))
	tell := func(endpoint string, first map[string]bool) {
		of.SetFindings(&state.Findings{}, state.Published{All: first, Changed: map[string]*observed.Published{endpoint: {UID: "u", Generation: 1}}})
	}
	tell("shop/a", map[string]bool{"shop/a": true})
	store.Before = func(string, string) error { return errors.New("away") }
	require.Error(t, o.published(t.Context()))
	store.Before = nil
	tell("shop/b", nil)
	require.NoError(t, o.published(t.Context()))
	written, err := all.Published(t.Context(), hub, "shop", "a", "b")
	require.NoError(t, err)
	require.Len(t, written, 2)
}
