package appcontext_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

const owner = appcontext.Owner("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")

// newStore is a Store over an embedded etcd of its own.
func newStore(t *testing.T) (*appcontext.Store, kv.KV) {
	t.Helper()
	server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return appcontext.NewStore(server.KV(), time.Now), server.KV()
}

// configMap is an object of one app on one cluster.
func configMap(t *testing.T, cluster, app, name, value string) bundle.Object {
	t.Helper()
	o, err := bundle.New(cluster, app, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"},
		"data":     map[string]any{"value": value},
	})
	require.NoError(t, err)
	return o
}

func collect(t *testing.T, objects ...bundle.Object) bundle.Bundle {
	t.Helper()
	b, err := bundle.Collect(objects)
	require.NoError(t, err)
	return b
}

func commit(t *testing.T, s *appcontext.Store, c appcontext.Context) appcontext.Pointer {
	t.Helper()
	was, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	p, err := s.Commit(t.Context(), was, c)
	require.NoError(t, err)
	return p
}

func TestAContextIsReadBackAsItWasCommitted(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	objects := collect(t, configMap(t, "edge+berlin", "web", "a", "1"), configMap(t, "edge+berlin", "api", "b", "2"), configMap(t, "edge+hub", "web", "b", "3"))
	p := commit(t, s, appcontext.Context{ID: "1", Objects: objects, Services: map[string][]string{"edge+hub": {"shop/web"}}})
	require.Equal(t, int64(1), p.Seq)
	require.Equal(t, map[string][]string{"edge+hub": {"shop/web"}}, p.Services)
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, objects, got)
}

func TestTheLayoutIsEMCOs(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	object := configMap(t, "edge+berlin", "web", "settings", "1")
	commit(t, s, appcontext.Context{ID: "42", Objects: collect(t, object), Meta: appcontext.Meta{Project: "shop", Level: "0", ChildContextIDs: []string{}}})
	resource, err := json.Marshal(string(object.JSON))
	require.NoError(t, err)
	want := map[string]string{
		"/context/42/":                             `"42"`,
		"/context/42/app/instruction/order/":       `"{\"apporder\":[\"web\"]}"`,
		"/context/42/app/web/":                     `"web"`,
		"/context/42/app/web/cluster/edge+berlin/": `"edge+berlin"`,
		"/context/42/app/web/cluster/edge+berlin/resource/instruction/order/":  `"{\"resorder\":[\"settings+ConfigMap\"]}"`,
		"/context/42/app/web/cluster/edge+berlin/resource/settings+ConfigMap/": string(resource),
		"/context/42/meta/": `{"Project":"shop","CompositeApp":"","Version":"","Release":"","DeploymentIntentGroup":"","Namespace":"","Level":"0","ChildContextIDs":[],"LogicalCloud":"","LogicalCloudNamespace":"","LogicalCloudLevel":""}`,
	}
	items, _, err := store.Range(t.Context(), kv.Range{Prefix: "/context/"})
	require.NoError(t, err)
	got := map[string]string{}
	for _, item := range items {
		got[item.Key] = string(item.Value)
	}
	require.Equal(t, want, got)
}

// TestWhatIsOnlyToBeCreatedIsAHook: rsync reads an order nevertheless.
func TestWhatIsOnlyToBeCreatedIsAHook(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	mine := kv.Compare{Key: "/mine"}
	c := appcontext.Context{ID: "42", Objects: collect(t, configMap(t, "edge+berlin", "web", "settings", "1")), CreateOnly: true}
	require.NoError(t, s.Write(t.Context(), mine, c, kv.Put("/context/42/more/", []byte(`"1"`))))
	for key, want := range map[string]string{
		"/context/42/app/web/cluster/edge+berlin/resource/instruction/order/":      `"{\"resorder\":null}"`,
		"/context/42/app/web/cluster/edge+berlin/resource/instruction/dependency/": `"{\"resdependency\":{\"crd-install\":[\"settings+ConfigMap\"]}}"`,
		"/context/42/more/": `"1"`,
	} {
		item, _, err := store.Get(t.Context(), key)
		require.NoError(t, err)
		require.NotNil(t, item, key)
		require.Equal(t, want, string(item.Value))
	}
	_, _, err := store.Txn(t.Context(), nil, kv.Put("/mine", []byte("another's")))
	require.NoError(t, err)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(s.Write(t.Context(), mine, c)))
}

func TestAContextOfManyLargeObjectsIsCommittedInChunks(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	var objects []bundle.Object
	for n := range 600 {
		objects = append(objects, configMap(t, "edge+berlin", "web", fmt.Sprintf("m%03d", n), string(make([]byte, 4<<10))))
	}
	p := commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, objects...)})
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, got, 600)
}

// The time that a commit takes grows by a request for each 128 objects, and not
// by one for each. A small plain context takes one request.
func TestACommitTakesFarFewerRequestsThanItHasObjects(t *testing.T) {
	t.Parallel()
	_, store := newStore(t)
	asked := &counted{KV: store}
	s := appcontext.NewStore(asked, time.Now)
	for n, objects := range []int{1, 1000} {
		var many []bundle.Object
		for i := range objects {
			many = append(many, configMap(t, "edge+berlin", "web", fmt.Sprintf("m%03d", i), "1"))
		}
		was, err := s.Current(t.Context(), owner)
		require.NoError(t, err)
		asked.requests.Store(0)
		_, err = s.Commit(t.Context(), was, appcontext.Context{ID: fmt.Sprint(n + 1), Plain: true, Objects: collect(t, many...)})
		require.NoError(t, err)
		want := 1
		if objects > kv.MaxOps {
			const besides = 2 // the claim is written, the pointer moves
			want = (objects+1+kv.MaxOps-1)/kv.MaxOps + besides
		}
		require.EqualValues(t, want, asked.requests.Load(), "%d objects", objects)
	}
}

// TestASmallPlainContextIsCommittedWhateverWasLeftOfIt: an attempt that crashed has claimed its
// id, and has laid out something else.
func TestASmallPlainContextIsCommittedWhateverWasLeftOfIt(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	for _, op := range []kv.Op{kv.Put("/signpost/claim/7", []byte(`{"attempt":"a"}`)), kv.Put("/context/7/app/web/cluster/edge+berlin/resource/old+ConfigMap/", []byte(`"x"`))} {
		_, _, err := store.Txn(t.Context(), nil, op)
		require.NoError(t, err)
	}
	want := collect(t, configMap(t, "edge+berlin", "web", "settings", "1"))
	p := commit(t, s, appcontext.Context{ID: "7", Plain: true, Objects: want})
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = s.Commit(t.Context(), appcontext.Pointer{Owner: owner}, appcontext.Context{ID: "8", Plain: true, Objects: want})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
	left, _, err := store.Range(t.Context(), kv.Range{Prefix: "/signpost/claim/"})
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestAPlainContextIsReadAsAnyOther, and has no keys that Signpost does not read.
func TestAPlainContextIsReadAsAnyOther(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	want := collect(t, configMap(t, "edge+berlin", "web", "settings", "1"))
	p := commit(t, s, appcontext.Context{ID: "9", Plain: true, Objects: want, Meta: appcontext.Meta{Project: "shop", Level: "0"}})
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, want, got)
	meta, err := s.Meta(t.Context(), "9")
	require.NoError(t, err)
	require.Equal(t, appcontext.Meta{Project: "shop", Level: "0"}, meta)
	keys, _, err := store.Range(t.Context(), kv.Range{Prefix: "/context/9/"})
	require.NoError(t, err)
	require.Len(t, keys, 2)
}

// counted counts requests.
type counted struct {
	kv.KV
	requests atomic.Int64
}

func (c *counted) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	c.requests.Add(1)
	return c.KV.Get(ctx, key)
}

func (c *counted) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	c.requests.Add(1)
	return c.KV.Txn(ctx, when, then...)
}

// I2: a reader sees whole bundles only, of one release.
func TestAReaderSeesWholeBundlesOnly(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release := func(n int) appcontext.Context {
		var objects []bundle.Object
		for i := range 40 {
			objects = append(objects, configMap(t, "edge+berlin", "web", fmt.Sprintf("m%d", i), fmt.Sprint(n)))
		}
		return appcontext.Context{ID: fmt.Sprint(n), Objects: collect(t, objects...)}
	}
	commit(t, s, release(1))
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				p, err := s.Current(ctx, owner)
				if err != nil {
					t.Error(err)
					return
				}
				objects, err := s.Objects(ctx, p)
				if intent.CodeOf(err) == appcontext.ErrStale {
					continue
				}
				if err != nil || len(objects) != 40 {
					t.Errorf("read %d objects: %v", len(objects), err)
					return
				}
				for _, o := range objects[1:] {
					if dataOf(o) != dataOf(objects[0]) {
						t.Errorf("a mixture: %s and %s", dataOf(o), dataOf(objects[0]))
						return
					}
				}
			}
		})
	}
	for n := 2; n <= 30; n++ {
		commit(t, s, release(n))
	}
	close(done)
	readers.Wait()
}

func dataOf(o bundle.Object) string {
	var object struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(o.JSON, &object); err != nil {
		return err.Error()
	}
	return object.Data["value"]
}

func TestCurrentAndPreviousAreKeptOlderOnesAreCollected(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	for n := 1; n <= 4; n++ {
		commit(t, s, appcontext.Context{ID: fmt.Sprint(n), Objects: collect(t, configMap(t, "edge+berlin", "web", "a", fmt.Sprint(n)))})
	}
	require.NoError(t, s.Sweep(t.Context(), time.Hour))
	for id, kept := range map[string]bool{"1": false, "2": false, "3": true, "4": true} {
		items, _, err := store.Range(t.Context(), kv.Range{Prefix: "/context/" + id + "/"})
		require.NoError(t, err)
		require.Equal(t, kept, len(items) > 0, "context %s", id)
	}
}

func TestACommitByAWriterThatReadAnOlderPointerIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	was, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))})
	_, err = s.Commit(t.Context(), was, appcontext.Context{ID: "2"})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
}

// I2: two replicas commit the same release, and the slower one finds it current
// by the time it claims the id.
func TestALateWriterOfTheSameContextLeavesTheCurrentOneAlone(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	was, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	current := commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))})
	before := everything(t, store)
	_, err = s.Commit(t.Context(), was, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "2"))})
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
	require.NoError(t, s.Sweep(t.Context(), -time.Hour))
	require.Equal(t, before, everything(t, store))
	got, err := s.Objects(t.Context(), current)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func everything(t *testing.T, store kv.KV) []kv.Item {
	t.Helper()
	items, _, err := store.Range(t.Context(), kv.Range{})
	require.NoError(t, err)
	return items
}

// A chunk that fails fails the commit, whichever it is; nothing is under way
// any more then, and nobody sees what was written.
func TestACommitFailsWithAnyOfItsChunks(t *testing.T) {
	t.Parallel()
	_, store := newStore(t)
	var objects []bundle.Object
	for n := range 600 {
		objects = append(objects, configMap(t, "edge+berlin", "web", fmt.Sprintf("m%03d", n), "1"))
	}
	content := collect(t, objects...)
	for nth := int64(1); nth <= 5; nth++ {
		broken := &breaking{KV: store, nth: nth}
		s := appcontext.NewStore(broken, time.Now)
		was, err := s.Current(t.Context(), owner)
		require.NoError(t, err)
		_, err = s.Commit(t.Context(), was, appcontext.Context{ID: "1", Objects: content})
		require.ErrorIs(t, err, errBroken, "chunk %d", nth)
		require.Zero(t, broken.underWay.Load())
		now, err := s.Current(t.Context(), owner)
		require.NoError(t, err)
		require.Zero(t, now.Seq)
	}
	got, err := appcontext.NewStore(store, time.Now).Objects(t.Context(), commit(t, appcontext.NewStore(store, time.Now), appcontext.Context{ID: "1", Objects: content}))
	require.NoError(t, err)
	require.Equal(t, content, got, "the next attempt takes over what is left")
}

var errBroken = errors.New("broken")

func TestTwoObjectsOfOneKeyAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	was, err := s.Current(t.Context(), owner)
	require.NoError(t, err)
	twin := configMap(t, "edge+berlin", "web", "a", "1")
	twin.Namespace = "other"
	_, err = s.Commit(t.Context(), was, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"), twin)})
	require.ErrorContains(t, err, `app "web" holds two objects called a+ConfigMap on edge+berlin`)
	require.Empty(t, everything(t, store))
}

// breaking breaks the nth chunk of a context.
type breaking struct {
	kv.KV
	nth              int64
	chunks, underWay atomic.Int64
}

func (b *breaking) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	b.underWay.Add(1)
	defer b.underWay.Add(-1)
	if strings.HasPrefix(then[0].Key, "/context/") && !then[0].Delete && b.chunks.Add(1) == b.nth {
		return false, 0, errBroken
	}
	return b.KV.Txn(ctx, when, then...)
}

func TestRepeatingACurrentCommitChangesNothing(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	c := appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))}
	first := commit(t, s, c)
	again := commit(t, s, c)
	require.Equal(t, first.Revision(), again.Revision())
}

func TestAnAttemptThatDiedHalfwayIsTakenOverWhole(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	_, _, err := store.Txn(t.Context(), nil,
		kv.Put("/signpost/claim/7", []byte(`{"attempt":"dead","since":"2020-01-01T00:00:00Z"}`)),
		kv.Put("/context/7/app/web/cluster/edge+berlin/resource/old+ConfigMap/", []byte(`"{}"`)))
	require.NoError(t, err)
	p := commit(t, s, appcontext.Context{ID: "7", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))})
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, got, 1)
	claims, _, err := store.Range(t.Context(), kv.Range{Prefix: "/signpost/claim/"})
	require.NoError(t, err)
	require.Empty(t, claims)
}

func TestSweepRemovesWhatADeadWriterLeft(t *testing.T) {
	t.Parallel()
	s, store := newStore(t)
	_, _, err := store.Txn(t.Context(), nil,
		kv.Put("/signpost/claim/7", []byte(`{"attempt":"dead","since":"2020-01-01T00:00:00Z"}`)),
		kv.Put("/context/7/", []byte(`"7"`)))
	require.NoError(t, err)
	require.NoError(t, s.Sweep(t.Context(), time.Hour))
	for _, prefix := range []string{"/context/", "/signpost/claim/"} {
		items, _, err := store.Range(t.Context(), kv.Range{Prefix: prefix})
		require.NoError(t, err)
		require.Empty(t, items, prefix)
	}
}

func TestRewriteChangesSingleObjectsAndTouchesThePointer(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	before := commit(t, s, appcontext.Context{ID: "1", Objects: collect(t,
		configMap(t, "edge+berlin", "web", "a", "1"), configMap(t, "edge+berlin", "web", "b", "1"), configMap(t, "edge+berlin", "web", "c", "1"))})
	b2 := configMap(t, "edge+berlin", "web", "b", "2")
	added := configMap(t, "edge+berlin", "web", "d", "1")
	was, err := s.Objects(t.Context(), before)
	require.NoError(t, err)
	changes := changed(was, collect(t, configMap(t, "edge+berlin", "web", "a", "1"), b2, added))
	after, err := s.Rewrite(t.Context(), before, "web", "edge+berlin", changes)
	require.NoError(t, err)
	require.Greater(t, after.Revision(), before.Revision())
	require.False(t, before.Since.IsZero())
	require.Equal(t, before.Since, after.Since, "the same context is current as long")
	require.Equal(t, before.ContextID, after.ContextID)
	got, err := s.Objects(t.Context(), after)
	require.NoError(t, err)
	require.Equal(t, collect(t, configMap(t, "edge+berlin", "web", "a", "1"), b2, added), got)
	_, err = s.Rewrite(t.Context(), before, "web", "edge+berlin", changes)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
}

// changed is what differs between two bundles.
func changed(before, after bundle.Bundle) []bundle.Change {
	return slices.DeleteFunc(bundle.Diff(before, after), func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
}

func TestRewriteAddsTheFirstObjectOfAnAppOnACluster(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	before := commit(t, s, appcontext.Context{ID: "1"})
	require.Empty(t, before.Clusters)
	after, err := s.Rewrite(t.Context(), before, "web", "edge+hub", changed(nil, collect(t, configMap(t, "edge+hub", "web", "a", "1"))))
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"edge+hub": {"web"}}, after.Clusters)
	got, _, err := s.ObjectsOn(t.Context(), after, "edge+hub")
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestWatchTellsOfEachChangedPointer(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	_, revision, err := s.Pointers(t.Context())
	require.NoError(t, err)
	changes := s.Watch(t.Context(), revision+1)
	p := commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))})
	select {
	case change := <-changes:
		require.Len(t, change.Pointers, 1)
		require.Equal(t, p.ContextID, change.Pointers[0].ContextID)
	case <-time.After(30 * time.Second):
		t.Fatal("no change was delivered")
	}
}

func TestAnOwnerOfNothingHasAPointerThatSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+berlin", "web", "a", "1"))})
	p := commit(t, s, appcontext.Context{})
	require.Empty(t, p.ContextID)
	require.Equal(t, int64(2), p.Seq)
	require.Empty(t, p.Clusters)
	got, err := s.Objects(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestProviderOwnersAreTakenApartAsTheyWerePutTogether(t *testing.T) {
	t.Parallel()
	record, scope, cluster, ok := appcontext.ProviderOwner("projects/shop/dns-update-records/lab", "public", "edge+hub").Provider()
	require.True(t, ok)
	require.Equal(t, []string{"projects/shop/dns-update-records/lab", "public", "edge+hub"}, []string{record, scope, cluster})
	record, _, _, ok = owner.Provider()
	require.False(t, ok)
	require.Empty(t, record)
}

// TestASuspensionHoldsForTheContextThatItWasMadeFor: rewriting objects keeps
// it, another context or none ends it, and a stale writer makes none.
func TestASuspensionHoldsForTheContextThatItWasMadeFor(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	first := commit(t, s, appcontext.Context{ID: "1", Objects: collect(t, configMap(t, "edge+hub", "web", "a", "1"))})
	suspended, err := s.Suspend(t.Context(), first, true)
	require.NoError(t, err)
	require.True(t, suspended.Suspended)
	require.Equal(t, first.ContextID, suspended.ContextID)
	_, err = s.Suspend(t.Context(), first, false)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))

	changes := changed(collect(t, configMap(t, "edge+hub", "web", "a", "1")), collect(t, configMap(t, "edge+hub", "web", "a", "2")))
	rewritten, err := s.Rewrite(t.Context(), suspended, "web", "edge+hub", changes)
	require.NoError(t, err)
	require.True(t, rewritten.Suspended)
	resumed, err := s.Suspend(t.Context(), rewritten, false)
	require.NoError(t, err)
	require.False(t, resumed.Suspended)

	_, err = s.Suspend(t.Context(), resumed, true)
	require.NoError(t, err)
	require.False(t, commit(t, s, appcontext.Context{}).Suspended)
}

func TestOwnersBelongToAProject(t *testing.T) {
	t.Parallel()
	for o, project := range map[appcontext.Owner]string{
		"projects/shop/logical-clouds/eu": "shop",
		"projects/shop":                   "shop",
		appcontext.ProviderOwner("projects/shop/dns-update-records/lab", "public", "edge+berlin"): "shop",
		"projects":       "",
		"elsewhere/shop": "",
		"":               "",
	} {
		require.Equal(t, project, o.Project(), "%q", o)
	}
}
