package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// TestRoomIsWhatEtcdSaidLast, and the log tells when that changes.
func TestRoomIsWhatEtcdSaidLast(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var size etcd.Size
	var failure error
	quota := newStorageQuota(&stores{size: func(context.Context) (etcd.Size, error) { return size, failure }}, slog.New(slog.NewTextHandler(&log, nil)))
	require.False(t, quota.nearlyFull(), "as long as it is not known")
	for _, c := range []struct {
		name    string
		size    etcd.Size
		failure error
		full    bool
		told    string
	}{
		{"a quota that is not told", etcd.Size{Allocated: 99, InUse: 99}, nil, false, ""},
		{"nine tenths in use", etcd.Size{Allocated: 900, InUse: 900, Quota: 1000}, nil, false, ""},
		{"more", etcd.Size{Allocated: 901, InUse: 901, Quota: 1000}, nil, true, "documents can be deleted, and not written"},
		{"no answer", etcd.Size{}, errors.New("away"), true, ""},
		{"a file of which half is free", etcd.Size{Allocated: 950, InUse: 450, Quota: 1000}, nil, false, "documents can be written"},
		{"a file that leaves nothing to grow", etcd.Size{Allocated: 951, InUse: 450, Quota: 1000}, nil, true, "not written"},
		{"a disk that is nearly full", etcd.Size{Allocated: 500, InUse: 450, Quota: 1000, Free: 1 << 20, Disk: 1 << 40}, nil, true, ""},
		{"room", etcd.Size{Allocated: 500, InUse: 450, Quota: 1000}, nil, false, "etcd has free space again"},
	} {
		size, failure = c.size, c.failure
		log.Reset()
		quota.check(t.Context())
		require.Equal(t, c.full, quota.nearlyFull(), c.name)
		if c.told == "" {
			require.Empty(t, log.String(), c.name)
		}
		require.Contains(t, log.String(), c.told, c.name)
	}
}

func TestEtcdIsAskedForRoomOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		quota := newStorageQuota(&stores{size: func(context.Context) (etcd.Size, error) { asked.Add(1); return etcd.Size{}, nil }}, slog.Default())
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		require.NoError(t, quota.run(ctx))
		require.EqualValues(t, 4, asked.Load())
	})
}

func TestDocumentsThatAreNotInEtcdHaveRoom(t *testing.T) {
	t.Parallel()
	require.False(t, newStorageQuota(&stores{mongo: &mongo.Store{}}, slog.Default()).nearlyFull())
}
