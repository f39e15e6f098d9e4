package nameindex

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// eachStore runs a test with a store of documents that tells of changes, as etcd does, and
// with one that does not, as MongoDB. tick is how long it takes until a change is known.
func eachStore(t *testing.T, test func(t *testing.T, w *world, tick func())) {
	for name, told := range map[string]bool{"the store tells of changes": true, "the store is listed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, told)
				test(t, w, func() {
					if !told {
						time.Sleep(scanEvery)
					}
					synctest.Wait()
				})
			})
		})
	}
}

// TestTheIndexFollowsOwners: those that were there before it, those that come, change and
// go, names and groups alike.
func TestTheIndexFollowsOwners(t *testing.T) {
	t.Parallel()
	eachStore(t, func(_ *testing.T, w *world, tick func()) {
		w.published(nameOwner("shop", "api.lab.example"), "lab", "api.lab.example")
		w.run()
		require.Equal(w, []string{"api.lab.example api.lab.example lab Instantiated True True"}, w.find(intent.NameQuery{}))

		g := w.published(prod, "lab", "www.lab.example", "a.lab.example")
		tick()
		require.Equal(w, []string{
			"a.lab.example prod lab Instantiated True True", "api.lab.example api.lab.example lab Instantiated True True", "www.lab.example prod lab Instantiated True True",
		}, w.find(intent.NameQuery{}))

		updating := deployed()
		updating.Wanted, updating.Settled = intent.Update, false
		w.put(groupOf(prod, "lab", nil, "www.lab.example"), updating)
		tick()
		require.Equal(w, []string{"www.lab.example prod lab Updating True True"}, w.find(intent.NameQuery{Pattern: "www*"}))
		require.Empty(w, w.find(intent.NameQuery{Pattern: "a.lab.example"}), "the release does not give it any more")

		going := deployed()
		going.Wanted, going.Settled = intent.Terminate, false
		w.put(g, going)
		tick()
		require.Len(w, w.find(intent.NameQuery{State: intent.Terminating}), 2)
		going.Settled = true
		w.put(g, going)
		tick()
		require.Len(w, w.find(intent.NameQuery{}), 1, "nothing is left of the group")
		require.NoError(w, w.store.Documents.Delete(w.Context(), state.LifecyclePath(nameOwner("shop", "api.lab.example")), intent.Always()))
		tick()
		require.Empty(w, w.find(intent.NameQuery{}))
		require.Zero(w, w.index.Len())
	})
}

// TestTheIndexClaimsOnlyWhatWasObserved (I6), and takes it back with what it followed
// from.
func TestTheIndexClaimsOnlyWhatWasObserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		www := nameOwner("shop", "www.lab.example")
		g := groupOf(www, "lab", []string{"edge+berlin"}, "www.lab.example")
		w.run()
		expect := func(published, verified, why string) {
			t.Helper()
			require.Equal(t, []string{"www.lab.example www.lab.example lab Instantiated " + published + " " + verified}, w.find(intent.NameQuery{}), why)
		}
		w.put(g, deployed())
		expect("Unknown", "Unknown", "nothing was observed")
		w.sync(g, 1, "Matches")
		expect("False", "Unknown", "the cluster does not have the DNSEndpoint: the answers are of one before")
		w.apply(g, 1, ledger.Applied)
		expect("True", "True", "external-dns has put it through")
		w.apply(g, 2, ledger.Applied)
		expect("False", "True", "it has changed since")
		w.sync(g, 2, "Differs")
		expect("True", "False", "a server answers something else")
		w.apply(g, 2, ledger.Retrying)
		expect("False", "False", "the cluster does not have it as it is wanted")
		w.apply(g, 2, ledger.Applied)
		require.NoError(t, w.writer(hub).SetDeployment(t.Context(), "shop-dns", "external-dns-lab", observed.Deployment{}))
		expect("False", "False", "external-dns is not available")
		require.NoError(t, w.writer(hub).SetDeployment(t.Context(), "shop-dns", "external-dns-lab", observed.Deployment{Available: true}))
		expect("True", "False", "it is again")
		require.NoError(t, w.writer(hub).SetReachability(t.Context(), observed.Reachability{}))
		expect("Unknown", "False", "its cluster cannot be reached")
		require.NoError(t, w.writer(hub).SetReachability(t.Context(), observed.Reachability{Reachable: true}))
		require.NoError(t, w.writer(hub).SetAnswers(t.Context(), nil))
		expect("Unknown", "Unknown", "the DNSEndpoint may have no address for it")
		require.NoError(t, w.store.Ledger.Write(t.Context(), fence(), nil, []bundle.ID{endpointID(g)}))
		expect("False", "Unknown", "the DNSEndpoint is gone")
	})
}

// TestAnIndexThatIsNotFullAnswersNothing, nor one that has not heard for 30 seconds.
func TestAnIndexThatIsNotFullAnswersNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(_ *testing.T, w *world, _ func()) {
		w.published(prod, "lab", "www.lab.example")
		refused := func() {
			_, err := w.index.FindNames(intent.NameQuery{Limit: 1})
			require.Equal(w, intent.Unavailable, intent.CodeOf(err))
			var e *intent.Error
			require.ErrorAs(w, err, &e)
			require.Positive(w, e.RetryAfter)
		}
		refused()
		w.down.Store(true)
		w.run()
		time.Sleep(time.Minute)
		refused()
		w.down.Store(false)
		time.Sleep(retryEvery)
		require.Len(w, w.find(intent.NameQuery{}), 1)
		time.Sleep(time.Hour)
		require.Len(w, w.find(intent.NameQuery{}), 1, "it hears without changes, too")
		require.LessOrEqual(w, w.index.Age(), scanEvery+listenEvery)
		w.down.Store(true)
		time.Sleep(oldest + listenEvery)
		synctest.Wait()
		refused()
		w.down.Store(false)
		time.Sleep(scanEvery + listenEvery)
		require.Len(w, w.find(intent.NameQuery{}), 1)
	})
}

// TestTheIndexIsFilledAgainAfterHistoryWasLost, and answers meanwhile.
func TestTheIndexIsFilledAgainAfterHistoryWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		lost := make(chan intent.Changed, 1)
		w.feed.Watch = func(ctx context.Context, _ string, _ int64) <-chan intent.Changed { return lost }
		w.run()
		w.published(prod, "lab", "www.lab.example")
		require.Empty(t, w.find(intent.NameQuery{}), "nobody has told")
		lost <- intent.Changed{Lost: true}
		require.Empty(t, w.find(intent.NameQuery{}))
		time.Sleep(retryEvery)
		require.Len(t, w.find(intent.NameQuery{}), 1)
	})
}

// asOf is how far an answer says that it has come.
func (w *world) asOf() intent.AsOf {
	w.Helper()
	synctest.Wait()
	page, err := w.index.FindNames(intent.NameQuery{Limit: 1, Sees: seesOnly()})
	require.NoError(w, err)
	return page.AsOf
}

// write changes the store where no name follows from it.
func (w *world) write() {
	w.Helper()
	_, _, err := w.fake.Txn(w.Context(), nil, kv.Put("/elsewhere", []byte("x")))
	require.NoError(w, err)
}

// TestAnAnswerSaysWhatItIsAsOf: the revision that all sources have reached, and when they were heard. A source of
// which nothing changes tells how far it has come.
func TestAnAnswerSaysWhatItIsAsOf(t *testing.T) {
	t.Parallel()
	eachStore(t, func(_ *testing.T, w *world, _ func()) {
		w.run()
		w.published(prod, "lab", "www.lab.example")
		time.Sleep(scanEvery + listenEvery)
		require.Equal(w, w.fake.Revision(), w.asOf().Revision)
		require.WithinDuration(w, time.Now(), w.asOf().Time, listenEvery)
		w.write()
		require.Equal(w, w.fake.Revision()-1, w.asOf().Revision, "a change may be on its way")
		time.Sleep(listenEvery)
		require.Equal(w, w.fake.Revision(), w.asOf().Revision)
	})
}

// TestAnAnswerClaimsNoChangeThatHasNotCome (I6): a watch is dead, beside a store that answers and others that go on.
// Nothing is missing while the store rests.
func TestAnAnswerClaimsNoChangeThatHasNotCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.feed.Watch = func(context.Context, string, int64) <-chan intent.Changed { return make(chan intent.Changed) }
		w.run()
		filled := w.fake.Revision()
		time.Sleep(time.Minute)
		require.Equal(t, filled, w.asOf().Revision)
		require.WithinDuration(t, time.Now(), w.asOf().Time, listenEvery)

		w.published(prod, "lab", "www.lab.example")
		time.Sleep(2 * listenEvery)
		require.Equal(t, filled, w.asOf().Revision)
		time.Sleep(oldest)
		_, err := w.index.FindNames(intent.NameQuery{Limit: 1})
		require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	})
}

// listing is a store of documents that lists revisions without bodies, as MongoDB does, and counts the bodies that are read.
type listing struct {
	intent.Store
	bodies int
}

func (l *listing) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	without := options.PathsOnly
	options.PathsOnly = false
	page, err := l.Store.List(ctx, options)
	for n := range page.Items {
		if without {
			page.Items[n].Body = nil
		} else {
			l.bodies++
		}
	}
	return page, err
}

func (l *listing) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	docs, err := l.Store.GetAll(ctx, paths)
	l.bodies += len(docs)
	return docs, err
}

// TestAScanReadsWhatHasChanged: every ten seconds, of very many lifecycles.
func TestAScanReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false)
		documents := &listing{Store: w.store.Documents}
		w.store.Documents = documents
		w.published(nameOwner("shop", "a.lab.example"), "lab", "a.lab.example")
		w.published(nameOwner("shop", "b.lab.example"), "lab", "b.lab.example")
		w.run()
		require.Equal(t, 2, documents.bodies)
		w.published(prod, "lab", "www.lab.example")
		time.Sleep(time.Minute)
		require.Len(t, w.find(intent.NameQuery{}), 3)
		require.Equal(t, 3, documents.bodies)
	})
}

// TestADamagedOwnerHidesNoOther: its lifecycle, or its release, cannot be read.
func TestADamagedOwnerHidesNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.published(nameOwner("shop", "lost.example"), "lab", "lost.example")
		items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: state.ReleasePrefix})
		require.NoError(t, err)
		_, _, err = w.fake.Txn(t.Context(), nil, kv.Put(items[0].Key, []byte("x")))
		require.NoError(t, err)
		_, err = w.store.Documents.Put(t.Context(), intent.Write{Path: state.LifecyclePath(nameOwner("shop", "odd.example")), Body: []byte(`{"seq":"one"}`), Condition: intent.Always()})
		require.NoError(t, err)
		w.published(prod, "lab", "www.lab.example")
		w.run()
		require.Equal(t, []string{"www.lab.example prod lab Instantiated True True"}, w.find(intent.NameQuery{}))
	})
}

// TestADamagedObservationCountsAsNone and keeps nobody from finding other names.
func TestADamagedObservationCountsAsNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.published(prod, "lab", "www.lab.example")
		w.damage()
		w.run()
		require.Equal(t, []string{"www.lab.example prod lab Instantiated Unknown Unknown"}, w.find(intent.NameQuery{}))
	})
}

// TestAnIndexTellsHowFarItIsFilled: while the Feed reads, and until it has read everything.
func TestAnIndexTellsHowFarItIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		const owners = 150 // more than a page
		for n := range owners {
			owner := nameOwner("shop", fmt.Sprintf("n%d.lab.example", n))
			w.put(groupOf(owner, "lab", nil, owner.Name()), deployed())
		}
		most := 0
		before := w.fake.Before
		w.fake.Before = func(op, key string) error {
			read, filling := w.index.Filling()
			if filling {
				most = max(most, read)
			}
			return before(op, key)
		}
		_, filling := w.index.Filling()
		require.True(t, filling, "nothing is read yet")
		w.run()
		_, filling = w.index.Filling()
		require.False(t, filling)
		require.Equal(t, 100, most, "the first page was counted while the second one was read")
	})
}
