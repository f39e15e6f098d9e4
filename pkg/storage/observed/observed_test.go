package observed_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const hub = "edge+hub"

func writer(t *testing.T, store kv.KV, name string) *observed.Writer {
	t.Helper()
	key := "/signpost/workers/" + name
	_, revision, err := store.Txn(t.Context(), nil, kv.Put(key, []byte("a")))
	require.NoError(t, err)
	item, _, err := store.Get(t.Context(), key)
	require.NoError(t, err)
	require.LessOrEqual(t, item.CreateRevision, revision)
	w, err := observed.New(store).Writer(t.Context(), name, kv.Compare{Key: key, CreatedAt: item.CreateRevision})
	require.NoError(t, err)
	return w
}

func offer(ip string) address.Observation {
	return address.Observation{Found: true, Candidates: []address.Candidate{{Target: ip, Field: "status.loadBalancer.ingress[0].ip"}}}
}

func TestObservationsAreReadAsTheyWereWritten(t *testing.T) {
	store := kvtest.NewFake()
	s := observed.New(store)
	nothing, err := s.Service(t.Context(), address.Service{Cluster: hub, Namespace: "shop", Name: "web"})
	require.NoError(t, err)
	assert.Nil(t, nothing, "what was never looked at is unknown, not absent (I11)")
	reachability, err := s.Reachability(t.Context(), hub)
	require.NoError(t, err)
	assert.Nil(t, reachability)

	w := writer(t, store, hub)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	require.NoError(t, w.SetService(t.Context(), "shop", "api", address.Observation{}))
	require.NoError(t, w.SetDeployment(t.Context(), "shop", "external-dns-lab", observed.Deployment{Available: true, Ready: 1}))
	other := writer(t, store, "edge+hub2")
	require.NoError(t, other.SetService(t.Context(), "shop", "web", offer("203.0.113.11")))

	services, revision, err := s.Services(t.Context(), hub)
	require.NoError(t, err)
	assert.Positive(t, revision)
	require.Len(t, services, 2)
	assert.Equal(t, address.Service{Cluster: hub, Namespace: "shop", Name: "api"}, services[0].Service)
	assert.False(t, services[0].Found, "seen to be absent")
	assert.Equal(t, offer("203.0.113.10"), services[1].Observation)
	all, _, err := s.All(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, 3)
	deployment, err := s.Deployment(t.Context(), hub, "shop", "external-dns-lab")
	require.NoError(t, err)
	assert.Equal(t, &observed.Deployment{Available: true, Ready: 1}, deployment)
	clusters, err := s.Clusters(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{hub, "edge+hub2"}, clusters)
	assert.Equal(t, []string{observed.ServiceKey(services[0].Service), observed.ServiceKey(services[1].Service)}, w.Unasked(slices.Values(w.Services()), nil))
	assert.Equal(t, []string{"shop/external-dns-lab"}, w.Deployments())
}

// forget removes what nobody asks for, if no context has moved since a revision.
func forget(t *testing.T, store *kvtest.Fake, w *observed.Writer, since int64) error {
	t.Helper()
	return w.Forget(t.Context(), w.Unasked(slices.Values(w.Services()), nil), kv.NotAfter("/signpost/current/", since))
}

// TestNothingIsForgottenOnceAContextHasMoved: it may ask for what nobody asked for before.
func TestNothingIsForgottenOnceAContextHasMoved(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	read := store.Revision()
	_, _, err := store.Txn(t.Context(), nil, kv.Put("/signpost/current/projects/shop", []byte("{}")))
	require.NoError(t, err)
	require.ErrorIs(t, forget(t, store, w, read), observed.ErrMoved)
	require.Equal(t, []string{"shop/web"}, w.Services())
	require.Empty(t, w.Unasked(slices.Values([]string{"shop/never-seen"}), nil))
	require.NoError(t, forget(t, store, w, store.Revision()))
	require.Empty(t, w.Services())
}

func TestUnchangedObservationIsNotWritten(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	before := store.Revision()
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	again, err := observed.New(store).Writer(t.Context(), hub, kv.Compare{Key: "/signpost/workers/" + hub, CreatedAt: 2})
	require.NoError(t, err)
	require.NoError(t, again.SetService(t.Context(), "shop", "web", offer("203.0.113.10")), "nor by the next owner")
	assert.Equal(t, before, store.Revision())
}

func TestWriterThatLostTheClusterObservesNothing(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	_, _, err := store.Txn(t.Context(), nil, kv.Delete("/signpost/workers/"+hub))
	require.NoError(t, err)
	next := writer(t, store, hub)
	require.ErrorIs(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.11")), observed.ErrLost)
	require.ErrorIs(t, forget(t, store, w, store.Revision()), observed.ErrLost)
	require.NoError(t, next.SetService(t.Context(), "shop", "web", offer("203.0.113.12")))
}

func TestADeploymentTellsSinceWhenItIsAvailableOrNot(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		seen  observed.Deployment
		since time.Time
	}{
		{observed.Deployment{Message: "starting", Since: at(0)}, at(0)},
		{observed.Deployment{Message: "crash loop", Since: at(1)}, at(0)},
		{observed.Deployment{Available: true, Ready: 1, Since: at(2)}, at(2)},
		{observed.Deployment{Available: true, Ready: 2, Since: at(3)}, at(2)},
	} {
		require.NoError(t, w.SetDeployment(t.Context(), "shop", "external-dns-lab", c.seen))
		read, err := observed.New(store).Deployment(t.Context(), hub, "shop", "external-dns-lab")
		require.NoError(t, err)
		c.seen.Since = c.since
		assert.Equal(t, &c.seen, read)
	}
}

func TestReachabilityTellsSinceWhen(t *testing.T) {
	store := kvtest.NewFake()
	w := writer(t, store, hub)
	read := func() observed.Reachability {
		r, err := observed.New(store).Reachability(t.Context(), hub)
		require.NoError(t, err)
		return *r
	}
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC) }
	require.NoError(t, w.SetReachability(t.Context(), observed.Reachability{Reachable: true, Since: at(0)}))
	require.NoError(t, w.SetReachability(t.Context(), observed.Reachability{Message: "connection refused", Since: at(1)}))
	require.NoError(t, w.SetReachability(t.Context(), observed.Reachability{Message: "no answer in time", Since: at(2)}))
	assert.Equal(t, observed.Reachability{Message: "no answer in time", Since: at(1)}, read(), "since it has been unreachable")
	require.NoError(t, w.SetReachability(t.Context(), observed.Reachability{Reachable: true, Since: at(3)}))
	assert.Equal(t, at(3), read().Since)
	require.NoError(t, w.RemoveReachability(t.Context()))
	r, err := observed.New(store).Reachability(t.Context(), hub)
	require.NoError(t, err)
	assert.Nil(t, r)
}

func TestCompareHoldsWhileTheObservationIsAsRead(t *testing.T) {
	store := kvtest.NewFake()
	s := observed.New(store)
	w := writer(t, store, hub)
	web := address.Service{Cluster: hub, Namespace: "shop", Name: "web"}
	absent := kv.Compare{Key: observed.ServiceKey(web)}
	ok, _, err := store.Txn(t.Context(), []kv.Compare{absent}, kv.Put("/a", nil))
	require.NoError(t, err)
	assert.True(t, ok)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	seen, err := s.Service(t.Context(), web)
	require.NoError(t, err)
	for _, want := range []bool{true, false} {
		ok, _, err := store.Txn(t.Context(), []kv.Compare{seen.Compare()}, kv.Put("/a", nil))
		require.NoError(t, err)
		assert.Equal(t, want, ok)
		require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.11")))
	}
}

func TestWatchNamesWhatChanges(t *testing.T) {
	store := kvtest.NewFake()
	ctx, cancel := context.WithCancel(t.Context())
	changes := observed.New(store).Watch(ctx, 1)
	w := writer(t, store, hub)
	require.NoError(t, w.SetService(t.Context(), "shop", "web", offer("203.0.113.10")))
	change := <-changes
	assert.Equal(t, []address.Service{{Cluster: hub, Namespace: "shop", Name: "web"}}, change.Services)
	assert.Equal(t, []string{hub}, change.Clusters)
	assert.Empty(t, change.Reached)
	require.NoError(t, w.SetReachability(t.Context(), observed.Reachability{Reachable: true, Since: time.Now()}))
	change = <-changes
	assert.Empty(t, change.Services)
	assert.Equal(t, []string{hub}, change.Clusters)
	assert.Equal(t, []string{hub}, change.Reached)
	cancel()
	for range changes { // closes
	}
}

func published(uid string, generation int64, second int64) observed.Published {
	return observed.Published{UID: uid, Generation: generation, At: time.Unix(second, 0).UTC()}
}

func TestWhatIsPublishedIsKeptByDNSEndpoint(t *testing.T) {
	store := kvtest.NewFake()
	s, w := observed.New(store), writer(t, store, hub)
	read := func() map[string]observed.Published {
		all, err := s.Published(t.Context(), hub, "shop", "a", "b", "c")
		require.NoError(t, err)
		return all
	}
	assert.Empty(t, read(), "what was never seen to be published is not")
	change := func(all map[string]bool, changed map[string]observed.Published, gone ...string) {
		t.Helper()
		told := map[string]*observed.Published{}
		for endpoint, p := range changed {
			told[endpoint] = &p
		}
		for _, endpoint := range gone {
			told[endpoint] = nil
		}
		require.NoError(t, w.ChangePublished(t.Context(), told, all))
	}
	change(nil, map[string]observed.Published{"shop/a": published("1", 1, 10), "shop/b": published("2", 1, 10), "shopping/a": published("3", 1, 10)})
	assert.Equal(t, map[string]observed.Published{"a": published("1", 1, 10), "b": published("2", 1, 10)}, read())

	before := store.Revision()
	change(nil, map[string]observed.Published{"shop/a": published("1", 1, 20)}, "shop/c")
	assert.Equal(t, before, store.Revision(), "what is published already keeps its time, what is not told stays")
	change(nil, map[string]observed.Published{"shop/a": published("1", 2, 30)}, "shop/b")
	assert.Equal(t, map[string]observed.Published{"a": published("1", 2, 30)}, read(), "what is not wanted any more is forgotten")

	change(map[string]bool{"shop/c": true}, map[string]observed.Published{"shop/b": published("2", 1, 40)})
	assert.Equal(t, map[string]observed.Published{"b": published("2", 1, 40)}, read(), "the first time, what is stored of others is forgotten")
}

func TestManyAreWrittenInBatches(t *testing.T) {
	store := kvtest.NewFake()
	s, w := observed.New(store), writer(t, store, hub)
	var names []string
	changed := map[string]*observed.Published{}
	for i := range 300 {
		names = append(names, strconv.Itoa(i))
		p := published("1", 1, 10)
		changed["shop/"+names[i]] = &p
	}
	before := store.Revision()
	require.NoError(t, w.ChangePublished(t.Context(), changed, nil))
	assert.Equal(t, before+3, store.Revision(), "below etcd's limit of operations each")
	all, err := s.Published(t.Context(), hub, "shop", names...)
	require.NoError(t, err)
	assert.Len(t, all, 300)
}

func TestPublishedSpeaksOfOneGenerationAlone(t *testing.T) {
	p := published("1", 2, 10)
	assert.True(t, p.Of("1", 2))
	assert.False(t, p.Of("1", 1))
	assert.False(t, p.Of("1", 3))
	assert.False(t, p.Of("2", 2))
	assert.False(t, observed.Published{}.Of("", 0), "what is not there was not published")
}
