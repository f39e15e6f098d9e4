package vault_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/vault"
)

func digest(t *testing.T, v *vault.Vault, plain string) string {
	t.Helper()
	of, err := v.Digest(t.Context())
	require.NoError(t, err)
	return of([]byte(plain))
}

// TestADigestOutlivesTheKeyThatSeals: a kubeconfig that is the same is not taken
// for a changed one when keys are replaced.
func TestADigestOutlivesTheKeyThatSeals(t *testing.T) {
	w := newWorld(t)
	was := digest(t, w.Vault, "a kubeconfig")
	require.Len(t, was, 32)
	require.NotEqual(t, was, digest(t, w.Vault, "another"))
	require.NotEqual(t, was, digest(t, newWorld(t).Vault, "a kubeconfig"), "each installation has a key of its own")

	both := w.with(t, key(t, 2), key(t, 1))
	require.Equal(t, was, digest(t, both, "a kubeconfig"))
	_, err := both.Reseal(t.Context())
	require.NoError(t, err)
	require.Equal(t, was, digest(t, w.with(t, key(t, 2)), "a kubeconfig"), "the old key is not needed any more")

	w.now = w.now.Add(time.Hour)
	require.NoError(t, w.Sweep(t.Context(), time.Minute))
	require.Equal(t, was, digest(t, w.with(t, key(t, 2)), "a kubeconfig"), "nobody refers to it, and it stays")
	lost := w.with(t, key(t, 3))
	require.NotEqual(t, was, digest(t, lost, "a kubeconfig"), "with the key that sealed it, it is lost")
	require.Equal(t, digest(t, lost, "a kubeconfig"), digest(t, w.with(t, key(t, 3)), "a kubeconfig"))
}

// TestReplicasAgreeOnDigests, also when they start at the same moment.
func TestReplicasAgreeOnDigests(t *testing.T) {
	for _, sealedBefore := range []bool{false, true} {
		w, first := newWorld(t), ""
		if sealedBefore {
			digest(t, w.Vault, "a kubeconfig")
		}
		v := w.with(t, key(t, 2))
		w.fake.Before = func(op, _ string) error {
			if op == "txn" {
				w.fake.Before = nil
				first = digest(t, w.with(t, key(t, 2)), "a kubeconfig")
			}
			return nil
		}
		require.Equal(t, digest(t, v, "a kubeconfig"), first)
		require.NotEmpty(t, first)
	}
}

func TestFaultsOfTheStoreLeaveNoDigest(t *testing.T) {
	w, broken := newWorld(t), errors.New("broken")
	for _, failing := range []string{"get", "txn"} {
		w.fake.Before = func(op, _ string) error {
			if op == failing {
				return broken
			}
			return nil
		}
		_, err := w.Digest(context.Background())
		require.ErrorIs(t, err, broken, failing)
	}
}
