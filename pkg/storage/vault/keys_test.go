package vault_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
)

func key(t *testing.T, fill byte) seal.Key {
	t.Helper()
	k, err := seal.NewKey(bytes.Repeat([]byte{fill}, 32))
	require.NoError(t, err)
	return k
}

// with is the world's vault with other keys.
func (w *world) with(t *testing.T, current seal.Key, older ...seal.Key) *vault.Vault {
	t.Helper()
	sealer, err := seal.New(current, older...)
	require.NoError(t, err)
	return vault.New(w.documents, sealer, nil)
}

// TestResealingKeepsIDsAndReferences: nobody but the vault notices, and the old
// key is not needed afterwards.
func TestResealingKeepsIDsAndReferences(t *testing.T) {
	w := newWorld(t)
	ids := []string{}
	for range 450 { // more than are read at once
		ids = append(ids, w.store(t, "hunter2"))
	}
	_, err := w.documents.Put(t.Context(), intent.Write{Path: "projects/shop", Refs: []intent.Path{secret(ids[0])}, Body: []byte(`{}`)})
	require.NoError(t, err)

	both := w.with(t, key(t, 2), key(t, 1))
	sealed, err := both.Reseal(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{key(t, 2).ID(): 450}, sealed)
	before, err := w.documents.Get(t.Context(), secret(ids[0]))
	require.NoError(t, err)
	_, err = both.Reseal(t.Context())
	require.NoError(t, err)
	after, err := w.documents.Get(t.Context(), secret(ids[0]))
	require.NoError(t, err)
	require.Equal(t, before, after, "what the current key has sealed is left alone")

	alone := w.with(t, key(t, 2))
	for _, id := range ids {
		plain, err := alone.Secret(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "hunter2", string(plain))
	}
	users, err := w.documents.Referrers(t.Context(), secret(ids[0]))
	require.NoError(t, err)
	require.Equal(t, []intent.Path{"projects/shop"}, users)
	_, err = w.Secret(t.Context(), ids[0])
	require.ErrorIs(t, err, seal.ErrWrongKey)
}

// TestWhatCannotBeResealedIsCounted under the key that is missing.
func TestWhatCannotBeResealedIsCounted(t *testing.T) {
	w := newWorld(t)
	w.store(t, "hunter2")
	sealed, err := w.with(t, key(t, 2)).Reseal(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{key(t, 1).ID(): 1, key(t, 2).ID(): 0}, sealed)
}

// TestWhatOthersSealWithIsLeftAlone: two replicas of which each has the other's
// key for the old one do not take back what the other has done.
func TestWhatOthersSealWithIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	id := w.store(t, "hunter2")
	was, err := w.documents.Get(t.Context(), secret(id))
	require.NoError(t, err)
	sealed, err := w.with(t, key(t, 2), key(t, 1)).Reseal(t.Context(), key(t, 3).ID(), key(t, 1).ID())
	require.NoError(t, err)
	require.Equal(t, map[string]int{key(t, 1).ID(): 1, key(t, 2).ID(): 0}, sealed)
	is, err := w.documents.Get(t.Context(), secret(id))
	require.NoError(t, err)
	require.Equal(t, was, is)
}

// TestResealersMayMeet: with each other, and with who deletes.
func TestResealersMayMeet(t *testing.T) {
	for _, other := range []func(w *world, v *vault.Vault) error{
		func(_ *world, v *vault.Vault) error { _, err := v.Reseal(context.Background()); return err },
		func(w *world, _ *vault.Vault) error {
			return w.documents.Delete(context.Background(), secret(w.values(t)[0]), intent.Always())
		},
	} {
		w := newWorld(t)
		id := w.store(t, "hunter2")
		v := w.with(t, key(t, 2), key(t, 1))
		w.fake.Before = func(op, _ string) error {
			if op == "txn" {
				w.fake.Before = nil
				require.NoError(t, other(w, v))
			}
			return nil
		}
		_, err := v.Reseal(t.Context())
		require.NoError(t, err)
		plain, err := v.Secret(t.Context(), id)
		if intent.CodeOf(err) != intent.NotFound {
			require.NoError(t, err)
			require.Equal(t, "hunter2", string(plain))
		}
	}
}

// TestTheKeyIsChecked: all that is sealed opens, or its key is said to be lost.
func TestTheKeyIsChecked(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.with(t, key(t, 9)).Check(t.Context(), nil), "nothing is sealed yet")
	w.store(t, "hunter2")
	w.store(t, "hunter3")
	require.NoError(t, w.Check(t.Context(), nil))
	require.NoError(t, w.with(t, key(t, 2), key(t, 1)).Check(t.Context(), nil))
	err := w.with(t, key(t, 2)).Check(t.Context(), nil)
	require.EqualError(t, err, "secrets at rest are sealed with a key that is not here: 2 with key "+key(t, 1).ID())
	require.NoError(t, w.with(t, key(t, 2)).Check(t.Context(), []string{key(t, 1).ID()}))
}

func TestFaultsOfTheStoreWhileResealingAreTold(t *testing.T) {
	w := newWorld(t)
	w.store(t, "a")
	v, broken := w.with(t, key(t, 2), key(t, 1)), errors.New("broken")
	for _, failing := range []string{"range", "get", "txn"} {
		w.fake.Before = func(op, _ string) error {
			if op == failing {
				return broken
			}
			return nil
		}
		if _, err := v.Reseal(t.Context()); err != nil {
			require.ErrorIs(t, err, broken, failing)
			continue
		}
		require.Equal(t, "get", failing, "nobody reads one value")
	}
	w.fake.Before = func(string, string) error { return broken }
	require.ErrorIs(t, v.Check(t.Context(), nil), broken)
}
