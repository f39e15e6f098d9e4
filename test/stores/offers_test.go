package stores

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	cloud  intent.Path = "projects/shop/logical-clouds/eu"
	group  intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	member intent.Path = "cluster-providers/edge/clusters/berlin"
)

// TestNoMeetingOverMongoLeavesPodsWithoutTheirDNS: at every step that the store
// takes for a group that comes to rely on autopath, its logical cloud takes it
// away, and the other way round. Whoever is first, the group does not rely on an
// offer that is gone (I10).
func TestNoMeetingOverMongoLeavesPodsWithoutTheirDNS(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	var step func(string) error
	open := func(options ...mongo.Option) intent.Store {
		store, err := mongo.New(t.Context(), "mongodb://"+server.address+"/offers", options...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	s := newShop(t, open())
	first := s.over(open(mongo.WithHook(func(at string) error { return step(at) })))
	for _, c := range []struct {
		reason        string
		first, second func()
	}{
		{"it goes while pods come to rely on it", func() { s.may(first.Instantiate, group) }, func() { s.may(terminate(s.service), cloud) }},
		{"pods come to rely on it while it goes", func() { s.may(terminate(first), cloud) }, func() { s.may(s.service.Instantiate, group) }},
	} {
		steps, relied := 0, 0
		for met := true; met; steps++ {
			s.do(s.service.Instantiate, cloud)
			met = false
			taken := 0
			step = func(string) error {
				taken++
				if taken == steps+1 {
					met = true
					c.second()
				}
				return nil
			}
			c.first()
			relied += s.relied()
			s.do(terminate(s.service), group)
			s.do(terminate(s.service), cloud)
		}
		require.Positive(t, relied, "%s: the group was first at times", c.reason)
		require.Less(t, relied, steps, "%s: and the logical cloud", c.reason)
	}
}

// shop is a service over documents in a MongoDB.
type shop struct {
	*testing.T
	documents intent.Store
	kv        *kvtest.Fake
	service   *release.Service
}

// over is a service over the documents as a store shows them.
func (s *shop) over(documents intent.Store) *release.Service {
	return release.New(release.Options{
		Documents: documents, KV: s.kv, Contexts: appcontext.NewStore(s.kv, time.Now), Ledger: ledger.New(s.kv), Observed: observed.New(s.kv),
		Installation: "k7wq2m9xhdr4", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
}

func newShop(t *testing.T, documents intent.Store) *shop {
	s := &shop{T: t, documents: documents, kv: kvtest.NewFake()}
	s.service = s.over(documents)
	s.put("projects/shop", `{"namespace":"shop-dns"}`)
	s.put("cluster-providers/edge", `{}`)
	s.put(member, `{"directory":"berlin"}`)
	s.put(cloud, `{"namespace":"shop"}`)
	s.put(cloud+"/cluster-references/berlin", `{"clusterProvider":"edge","cluster":"berlin"}`)
	s.put(cloud+"/dns-cr-intents/resolvers", `{"autopath":{}}`)
	s.put(group, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[]}}]}]}`)
	s.put(group+"/traffic-group-intents/front", `{}`)
	s.put(group+"/traffic-group-intents/front/pod-dns-intents/web", `{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`)
	return s
}

func (s *shop) put(path intent.Path, spec string) {
	s.Helper()
	_, err := s.documents.Put(s.Context(), intent.Write{Path: path, Body: []byte(`{"metadata":{"name":"` + path.Name() + `"},"spec":` + spec + `}`)})
	require.NoError(s, err)
}

// action is one that a service accepts.
type action func(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error)

// terminate is the action of a service without force.
func terminate(service *release.Service) action {
	return func(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
		return service.Terminate(ctx, owner, false, confirm, actor)
	}
}

// do has an action accepted, and steps follow it.
func (s *shop) do(act action, owner intent.Path) {
	s.Helper()
	_, err := act(s.Context(), owner, "", "ann")
	require.NoError(s, err)
	for range 3 {
		_, err := s.service.StepGroup(s.Context(), owner)
		require.NoError(s, err)
	}
}

// may asks for an action that may be refused.
func (s *shop) may(act action, owner intent.Path) {
	_, err := act(s.Context(), owner, "", "bob")
	assert.True(s, err == nil || intent.CodeOf(err) == intent.Conflict, "%v", err)
}

// relied answers how many offers the group refers to, each of which must be one
// that the logical cloud names.
func (s *shop) relied() (offers int) {
	s.Helper()
	offered := s.lifecycle(cloud).Offers
	for _, ref := range s.lifecycle(group).Refs {
		if ref.Collection() != intent.OfferCollection {
			continue
		}
		offers++
		require.True(s, slices.ContainsFunc(offered, func(o state.Offer) bool { return strings.HasSuffix(string(ref), "/"+o.ID) }), "%s is not offered", ref)
	}
	return offers
}

func (s *shop) lifecycle(owner intent.Path) (l state.Lifecycle) {
	s.Helper()
	doc, err := s.documents.Get(s.Context(), intent.Join(intent.LifecycleCollection, string(owner)))
	if intent.CodeOf(err) == intent.NotFound {
		return l
	}
	require.NoError(s, err)
	l, err = state.ReadLifecycle(doc)
	require.NoError(s, err)
	return l
}
