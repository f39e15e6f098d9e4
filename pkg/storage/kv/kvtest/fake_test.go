package kvtest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

func TestFakeKeepsTheContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kvtest.Subject { return kvtest.NewFake() })
}

func TestFakeHooksInjectFaults(t *testing.T) {
	fake := kvtest.NewFake()
	broken := errors.New("broken")
	fake.Before = func(op, key string) error {
		if op == "txn" && key == "refused" {
			return broken
		}
		return nil
	}
	fake.After = func(op, key string) error {
		if op == "txn" && key == "answer lost" {
			return broken
		}
		return nil
	}
	_, _, err := fake.Txn(t.Context(), nil, kv.Put("refused", nil))
	require.ErrorIs(t, err, broken)
	_, _, err = fake.Txn(t.Context(), nil, kv.Put("answer lost", nil))
	require.ErrorIs(t, err, broken)
	items, _, err := fake.Range(t.Context(), kv.Range{})
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, "answer lost", items[0].Key)
}

func TestFakeLeaseExpires(t *testing.T) {
	fake := kvtest.NewFake()
	lease, err := fake.Lease(t.Context(), 1)
	require.NoError(t, err)
	_, _, err = fake.Txn(t.Context(), nil, kv.Op{Key: "k", Lease: lease.ID()})
	require.NoError(t, err)
	fake.Expire(lease.ID())
	<-lease.Lost()
	item, _, err := fake.Get(t.Context(), "k")
	require.NoError(t, err)
	require.Nil(t, item)
}
