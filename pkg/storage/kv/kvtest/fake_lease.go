package kvtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// fakeLease lives until it is released, its context ends or Expire is called:
// a Fake has no clock.
type fakeLease struct {
	fake *Fake
	id   int64
	keys map[string]bool
	lost chan struct{}
	lose func()
}

var _ kv.Lease = (*fakeLease)(nil)

// Lease implements kv.KV.
func (f *Fake) Lease(ctx context.Context, _ int) (kv.Lease, error) {
	l := &fakeLease{fake: f, keys: map[string]bool{}, lost: make(chan struct{})}
	l.lose = sync.OnceFunc(func() { close(l.lost) })
	err := f.around(ctx, "lease", "", func() error {
		f.nextLease++
		l.id = f.nextLease
		f.leases[l.id] = l
		return nil
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, l.lose)
	return l, nil
}

func (l *fakeLease) ID() int64 { return l.id }

func (l *fakeLease) Lost() <-chan struct{} { return l.lost }

func (l *fakeLease) Release(ctx context.Context) error {
	l.lose()
	return l.fake.around(ctx, "release", fmt.Sprint(l.id), func() error {
		l.fake.end(l.id)
		return nil
	})
}

// Expire ends a lease as when its time has run out: its keys go, and its
// holder is told. An unknown lease is left alone.
func (f *Fake) Expire(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.leases[id]; l != nil {
		l.lose()
		f.end(id)
	}
}

// end removes a lease and its keys.
func (f *Fake) end(id int64) {
	l := f.leases[id]
	if l == nil {
		return
	}
	keys := slices.Sorted(maps.Keys(l.keys))
	delete(f.leases, id)
	var ops []kv.Op
	for _, key := range keys {
		ops = append(ops, kv.Delete(key))
	}
	f.apply(ops)
}
