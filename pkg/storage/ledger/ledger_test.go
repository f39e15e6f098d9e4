package ledger_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

const hub = "edge+hub"

// own makes a worker's key and answers the compare that it fences with.
func own(t *testing.T, store kv.KV, name string) kv.Compare {
	t.Helper()
	key := "/signpost/workers/" + name
	ok, revision, err := store.Txn(t.Context(), nil, kv.Put(key, []byte("a")))
	require.NoError(t, err)
	require.True(t, ok)
	return kv.Compare{Key: key, CreatedAt: revision}
}

func entry(id bundle.ID) ledger.Entry {
	return ledger.Entry{ID: id, UID: "u1", ResourceVersion: "10", Generation: 2, Digest: "d1", Owners: []string{"dig"},
		CreatedByUs: true, Status: ledger.Applied, Message: "as wanted"}
}

func TestEntriesAreReadAsTheyWereWritten(t *testing.T) {
	store := kvtest.NewFake()
	l := ledger.New(store)
	fence := own(t, store, hub)
	ids := []bundle.ID{
		{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "a"},
		{Cluster: hub, Kind: "Namespace", Name: "shop"},
		{Cluster: hub, Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "a"},
		{Cluster: "edge+hub2", Kind: "ConfigMap", Namespace: "shop", Name: "a"},
	}
	var put []ledger.Entry
	for _, id := range ids {
		put = append(put, entry(id))
	}
	require.NoError(t, l.Write(t.Context(), fence, put, nil))
	got, err := l.Cluster(t.Context(), hub)
	require.NoError(t, err)
	assert.ElementsMatch(t, put[:3], got, "another cluster whose name begins the same has its own")
	clusters, err := l.Clusters(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{hub, "edge+hub2"}, clusters)
	one, found, err := l.Get(t.Context(), ids[2])
	require.NoError(t, err)
	assert.True(t, found)
	assert.True(t, one.Equal(put[2]))
	missing := bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "b"}
	some, err := l.Entries(t.Context(), hub, []bundle.ID{ids[2], missing, ids[0]})
	require.NoError(t, err)
	assert.Equal(t, []ledger.Entry{put[2], put[0]}, some)

	require.NoError(t, l.Write(t.Context(), fence, nil, ids[:3]))
	clusters, err = l.Clusters(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"edge+hub2"}, clusters)
}

// TestATimeOfWritingIsStoredUnlessItIsThatOfTheStatus, and is read either way.
func TestATimeOfWritingIsStoredUnlessItIsThatOfTheStatus(t *testing.T) {
	store := kvtest.NewFake()
	l, id := ledger.New(store), bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	fence := own(t, store, hub)
	since := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, written := range []time.Time{since, since.Add(-time.Second)} {
		e := entry(id)
		stages := ledger.StagesOf(intent.Stages{Seen: written, Decided: since.Add(-time.Minute), Written: written})
		e.Since, e.Stages = since, &stages
		require.NoError(t, l.Write(t.Context(), fence, []ledger.Entry{e}, nil))
		got, _, err := l.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, e, got)
		item, _, err := store.Get(t.Context(), ledger.Key(id))
		require.NoError(t, err)
		require.Equal(t, written != since, strings.Contains(string(item.Value), "written"))
	}
}

// TestStagesTakeLittle: each DNSEndpoint has some, and there may be very many.
func TestStagesTakeLittle(t *testing.T) {
	const most = 32 // bytes
	require.LessOrEqual(t, reflect.TypeFor[ledger.Stages]().Size(), uintptr(most))
}

func TestKeysAreAsDocumented(t *testing.T) {
	assert.Equal(t, "/signpost/ledger/edge+hub/core/Namespace/_/shop",
		ledger.Key(bundle.ID{Cluster: hub, Kind: "Namespace", Name: "shop"}))
	assert.Equal(t, "/signpost/ledger/edge+hub/apps/Deployment/shop/web",
		ledger.Key(bundle.ID{Cluster: hub, Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}))
}

func TestManyEntriesAreFewTransactions(t *testing.T) {
	store := kvtest.NewFake()
	fence := own(t, store, hub)
	transactions := 0
	store.Before = func(op, _ string) error {
		if op == "txn" {
			transactions++
		}
		return nil
	}
	l := ledger.New(store)
	var put []ledger.Entry
	for i := range 1000 {
		put = append(put, entry(bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("a", i)}))
	}
	require.NoError(t, l.Write(t.Context(), fence, put, nil))
	assert.Equal(t, 8, transactions, "128 operations each")

	transactions = 0
	for i := range put {
		put[i].Message = strings.Repeat("x", 20<<10)
	}
	require.NoError(t, l.Write(t.Context(), fence, put, nil))
	assert.Greater(t, transactions, 19, "and less than a MiB each")
	got, err := l.Cluster(t.Context(), hub)
	require.NoError(t, err)
	assert.Len(t, got, 1000)
}

func TestWriterThatLostTheClusterWritesNothing(t *testing.T) {
	store := kvtest.NewFake()
	l := ledger.New(store)
	old := own(t, store, hub)
	_, _, err := store.Txn(t.Context(), nil, kv.Delete(old.Key))
	require.NoError(t, err)
	e := entry(bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "a"})
	require.ErrorIs(t, l.Write(t.Context(), old, []ledger.Entry{e}, nil), ledger.ErrLost)
	own(t, store, hub)
	require.ErrorIs(t, l.Write(t.Context(), old, []ledger.Entry{e}, nil), ledger.ErrLost, "another owner's key is not ours")
	require.ErrorIs(t, l.Reset(t.Context(), old, hub, "u"), ledger.ErrLost)
	clusters, err := l.Clusters(t.Context())
	require.NoError(t, err)
	assert.Empty(t, clusters)
}

func TestResetDropsTheEntriesOfOneCluster(t *testing.T) {
	store := kvtest.NewFake()
	l := ledger.New(store)
	fence := own(t, store, hub)
	require.NoError(t, l.Adopt(t.Context(), fence, hub, "uid-1"))
	require.NoError(t, l.Write(t.Context(), fence, []ledger.Entry{
		entry(bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "a"}),
		entry(bundle.ID{Cluster: "edge+hub2", Kind: "ConfigMap", Namespace: "shop", Name: "a"}),
	}, nil))
	require.NoError(t, l.Reset(t.Context(), fence, hub, "uid-2"))
	uid, err := l.Identity(t.Context(), hub)
	require.NoError(t, err)
	assert.Equal(t, "uid-2", uid)
	clusters, err := l.Clusters(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"edge+hub2"}, clusters)
}

func TestProgressClaimsNothingThatWasNotApplied(t *testing.T) {
	e := entry(bundle.ID{})
	e.Since = time.Unix(1000, 0)
	for _, test := range []struct {
		reason string
		change func(*ledger.Entry)
		digest string
		want   ledger.Status
	}{
		{"what was applied with this content is applied", func(*ledger.Entry) {}, "d1", ledger.Applied},
		{"what was applied with another is not yet", func(*ledger.Entry) {}, "d2", ledger.Pending},
		{"an owner whose content lost has failed", func(e *ledger.Entry) { e.Losing = []string{"dig"} }, "d2", ledger.Failed},
		{"an owner of two whose content won has not", func(e *ledger.Entry) { e.Losing = []string{"other"} }, "d1", ledger.Applied},
		{"what is to go is not applied for one who wants it back", func(e *ledger.Entry) { e.Going = true }, "d1", ledger.Pending},
		{"a failure is a failure", func(e *ledger.Entry) { e.Status = ledger.Failed }, "d1", ledger.Failed},
	} {
		t.Run(test.reason, func(t *testing.T) {
			changed := e
			test.change(&changed)
			got, _ := changed.Progress("dig", test.digest)
			assert.Equal(t, test.want, got)
			assert.Equal(t, got == ledger.Applied, !changed.Written(test.digest).IsZero(), "when it was written is known of what is applied")
		})
	}
}

func TestOfSelectsByOwner(t *testing.T) {
	mine := entry(bundle.ID{Cluster: hub, Kind: "ConfigMap", Name: "mine"})
	theirs := mine
	theirs.Owners = []string{"other"}
	assert.Equal(t, []ledger.Entry{mine}, ledger.Of([]ledger.Entry{theirs, mine}, "dig"))
	assert.False(t, mine.Lingers())
	assert.True(t, entry(bundle.ID{Kind: "Namespace", Name: "shop"}).Lingers())
}

// TestAWriteOfUnknownOutcomeCostsTheCluster: it may still happen, over what is
// written later, unless the cluster is claimed anew.
func TestAWriteOfUnknownOutcomeCostsTheCluster(t *testing.T) {
	store := kvtest.NewFake()
	store.After = func(op, _ string) error {
		if op == "txn" {
			return &intent.Error{Code: intent.Unavailable, Detail: "no answer"}
		}
		return nil
	}
	l := ledger.New(store)
	always := kv.Compare{Key: "/nobody"}
	require.ErrorIs(t, l.Write(t.Context(), always, []ledger.Entry{{Status: ledger.Pending}}, nil), ledger.ErrLost)
	require.ErrorIs(t, l.Own(t.Context(), always), ledger.ErrLost)
	store.After = nil
	require.NoError(t, l.Own(t.Context(), always))
	require.ErrorIs(t, l.Own(t.Context(), kv.Exists("/nobody")), ledger.ErrLost)
}
