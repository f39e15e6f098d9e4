package vault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
)

// Where the stories' value belongs.
const (
	lab   intent.Path = "projects/shop/dns-update-records/lab"
	field string      = "/spec/credentials/0/value"
)

// world is a vault over a store, with a clock that a story sets.
type world struct {
	*vault.Vault
	fake      *kvtest.Fake
	documents intent.Store
	now       time.Time
}

func newWorld(t *testing.T) *world {
	key, err := seal.NewKey(bytes.Repeat([]byte{1}, 32))
	require.NoError(t, err)
	sealer, err := seal.New(key)
	require.NoError(t, err)
	w := &world{fake: kvtest.NewFake(), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.documents = etcd.New(w.fake, etcd.WithClock(clock))
	w.Vault = vault.New(w.documents, sealer, clock)
	return w
}

func (w *world) store(t *testing.T, plain string) string {
	id, err := w.Store(t.Context(), lab, field, []byte(plain))
	require.NoError(t, err)
	return id
}

func secret(id string) intent.Path { return intent.Join(intent.SecretCollection, id) }

// values are the ids that the store holds, in order.
func (w *world) values(t *testing.T) []string {
	page, err := w.documents.List(t.Context(), intent.ListOptions{Collection: intent.SecretCollection})
	require.NoError(t, err)
	ids := []string{}
	for _, doc := range page.Items {
		ids = append(ids, doc.Path.Name())
	}
	return ids
}

func TestAValueOpensAsItWasStored(t *testing.T) {
	w := newWorld(t)
	for _, plain := range []string{"hunter2", "", "\x00\xff", strings.Repeat("long", 10000)} {
		opened, err := w.Secret(t.Context(), w.store(t, plain))
		require.NoError(t, err)
		require.Equal(t, plain, string(opened))
	}
	require.NotEqual(t, w.store(t, "same"), w.store(t, "same"), "each writing is a value of its own")
}

// TestTheStoreHoldsNoPlainValue: not under any key (I9).
func TestTheStoreHoldsNoPlainValue(t *testing.T) {
	w := newWorld(t)
	w.store(t, "hunter2")
	items, _, err := w.fake.Range(t.Context(), kv.Range{})
	require.NoError(t, err)
	for _, item := range items {
		require.NotContains(t, item.Key+string(item.Value), "hunter2")
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	_, err := newWorld(t).Secret(t.Context(), "nobody")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// TestAMovedCiphertextDoesNotOpen: it is bound to the document and the field
// that it was stored for.
func TestAMovedCiphertextDoesNotOpen(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(body map[string]string)
		opens  bool
	}{
		{"untouched", func(map[string]string) {}, true},
		{"claimed for another record", func(b map[string]string) { b["path"] = "projects/evil/dns-update-records/mine" }, false},
		{"claimed for another field", func(b map[string]string) { b["field"] = "/spec/kubeconfig" }, false},
		{"the border between path and field moved", func(b map[string]string) { b["path"], b["field"] = b["path"]+"#"+b["field"], "" }, false},
		{"changed", func(b map[string]string) { b["sealed"] = b["sealed"][:len(b["sealed"])-1] + "_" }, false},
	} {
		w := newWorld(t)
		doc, err := w.documents.Get(t.Context(), secret(w.store(t, "hunter2")))
		require.NoError(t, err)
		var body map[string]string
		require.NoError(t, json.Unmarshal(doc.Body, &body))
		c.change(body)
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		_, err = w.documents.Put(t.Context(), intent.Write{Path: secret("stolen"), Body: raw})
		require.NoError(t, err)
		opened, err := w.Secret(t.Context(), "stolen")
		if c.opens {
			require.NoError(t, err, c.reason)
			require.Equal(t, "hunter2", string(opened))
			continue
		}
		require.ErrorIs(t, err, seal.ErrDamaged, c.reason)
		require.Nil(t, opened, c.reason)
	}
}

func TestSweepRemovesWhatIsOldAndUnreferenced(t *testing.T) {
	w := newWorld(t)
	kept, replaced := w.store(t, "kept"), w.store(t, "replaced")
	_, err := w.documents.Put(t.Context(), intent.Write{Path: "projects/shop", Refs: []intent.Path{secret(kept)}, Body: []byte(`{}`)})
	require.NoError(t, err)
	w.now = w.now.Add(10 * time.Minute)
	young := w.store(t, "its document is being written")

	require.NoError(t, w.Sweep(t.Context(), 10*time.Minute))
	want := []string{kept, young}
	slices.Sort(want)
	require.Equal(t, want, w.values(t), "%s went", replaced)

	w.now = w.now.Add(10 * time.Minute)
	require.NoError(t, w.Sweep(t.Context(), 10*time.Minute))
	require.Equal(t, []string{kept}, w.values(t))
	require.NoError(t, w.documents.Delete(t.Context(), "projects/shop", intent.Always()))
	require.NoError(t, w.Sweep(t.Context(), 10*time.Minute))
	require.Empty(t, w.values(t))
}

// TestSweepersMayMeet: one that finds a value gone goes on.
func TestSweepersMayMeet(t *testing.T) {
	w := newWorld(t)
	w.store(t, "a")
	w.store(t, "b")
	w.now = w.now.Add(time.Hour)
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			w.fake.Before = nil
			require.NoError(t, w.Sweep(context.Background(), time.Minute))
		}
		return nil
	}
	require.NoError(t, w.Sweep(t.Context(), time.Minute))
	require.Empty(t, w.values(t))
}

func TestFaultsOfTheStoreAreTold(t *testing.T) {
	w := newWorld(t)
	id := w.store(t, "a")
	w.now = w.now.Add(time.Hour)
	broken := errors.New("broken")
	w.fake.Before = func(string, string) error { return broken }
	_, err := w.Store(t.Context(), lab, field, []byte("b"))
	require.ErrorIs(t, err, broken)
	_, err = w.Secret(t.Context(), id)
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, w.Sweep(t.Context(), time.Minute), broken)
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			return broken
		}
		return nil
	}
	require.ErrorIs(t, w.Sweep(t.Context(), time.Minute), broken)
}
