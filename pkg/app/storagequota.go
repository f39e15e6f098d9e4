package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// storageQuota knows whether etcd has room for documents, as etcd said last. A nil
// storageQuota means that there is room.
type storageQuota struct {
	size func(context.Context) (etcd.Size, error)
	log  *slog.Logger
	full atomic.Bool
}

// newStorageQuota returns nil if documents are not in etcd: they do not fill it.
func newStorageQuota(s *stores, log *slog.Logger) *storageQuota {
	if s.mongo != nil {
		return nil
	}
	return &storageQuota{size: s.size, log: log}
}

// nearlyFull is false while it is not known.
func (q *storageQuota) nearlyFull() bool { return q != nil && q.full.Load() }

// run asks etcd every second: at its fastest, it fills within some.
func (q *storageQuota) run(ctx context.Context) error {
	const every = time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		q.check(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// check asks etcd once. While etcd does not answer, the last answer counts.
func (q *storageQuota) check(ctx context.Context) {
	size, err := q.size(ctx)
	if err != nil || q.full.Swap(size.NearlyFull()) == size.NearlyFull() {
		return
	}
	if size.NearlyFull() {
		q.log.ErrorContext(ctx, "etcd, or its disk, is nearly full: documents can be deleted, and not written", "bytes", size.Allocated, "inUse", size.InUse, "quota", size.Quota, "free", size.Free)
		return
	}
	q.log.InfoContext(ctx, "etcd has free space again: documents can be written", "bytes", size.Allocated, "inUse", size.InUse, "quota", size.Quota)
}
