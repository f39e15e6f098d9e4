package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// room knows whether etcd has room for documents, as it was when it was last asked.
// A nil room has.
type room struct {
	size func(context.Context) (etcd.Size, error)
	log  *slog.Logger
	full atomic.Bool
}

// newRoom is nil where documents are not in etcd: they do not fill it.
func newRoom(s *stores, log *slog.Logger) *room {
	if s.mongo != nil {
		return nil
	}
	return &room{size: s.size, log: log}
}

// nearlyFull is false while it is not known.
func (r *room) nearlyFull() bool { return r != nil && r.full.Load() }

// run asks etcd every second: at its fastest, it fills within some.
func (r *room) run(ctx context.Context) error {
	const every = time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look asks etcd once. While it does not answer, what it said last counts.
func (r *room) look(ctx context.Context) {
	size, err := r.size(ctx)
	if err != nil || r.full.Swap(size.NearlyFull()) == size.NearlyFull() {
		return
	}
	if size.NearlyFull() {
		r.log.ErrorContext(ctx, "etcd, or its disk, is nearly full: documents can be deleted, and not written", "bytes", size.Allocated, "inUse", size.InUse, "quota", size.Quota, "free", size.Free)
		return
	}
	r.log.InfoContext(ctx, "etcd has room again: documents can be written", "bytes", size.Allocated, "inUse", size.InUse, "quota", size.Quota)
}
