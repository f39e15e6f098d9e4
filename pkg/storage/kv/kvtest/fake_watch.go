package kvtest

import (
	"context"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// fakeWatch follows the history of a Fake.
type fakeWatch struct {
	prefix string
	next   int64
	wake   chan struct{} // of capacity 1: there is something new
}

// Watch implements kv.KV. The hooks are not called.
func (f *Fake) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	return f.watch(ctx, prefix, from, nil, func() {})
}

// Follow implements kv.KV. It tells how far it has come as long as Ping answers.
func (f *Fake) Follow(ctx context.Context, prefix string, from int64, every time.Duration) <-chan kv.Batch {
	ticker := time.NewTicker(every)
	return f.watch(ctx, prefix, from, ticker.C, ticker.Stop)
}

func (f *Fake) watch(ctx context.Context, prefix string, from int64, due <-chan time.Time, end func()) <-chan kv.Batch {
	w := &fakeWatch{prefix: prefix, next: from, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	if from == 0 {
		w.next = f.revision + 1
	}
	f.watchers[w] = true
	f.mu.Unlock()
	out := make(chan kv.Batch)
	go func() {
		defer close(out)
		defer f.forget(w)
		defer end()
		for tells := false; ; {
			batches := f.news(w)
			if tells && f.Ping(ctx) == nil {
				batches = append(batches, kv.Batch{Revision: w.next - 1})
			}
			for _, batch := range batches {
				select {
				case out <- batch:
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-w.wake:
				tells = false
			case <-due:
				tells = true
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// news takes what w has not seen: one batch per revision.
func (f *Fake) news(w *fakeWatch) []kv.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.next < f.compacted {
		w.next = f.revision + 1
		return []kv.Batch{{Revision: f.revision, Compacted: true}}
	}
	var batches []kv.Batch
	for _, one := range f.history {
		if one.revision < w.next || !strings.HasPrefix(one.event.Key, w.prefix) {
			continue
		}
		if last := len(batches) - 1; last >= 0 && batches[last].Revision == one.revision {
			batches[last].Events = append(batches[last].Events, one.event)
			continue
		}
		batches = append(batches, kv.Batch{Events: []kv.Event{one.event}, Revision: one.revision})
	}
	w.next = max(w.next, f.revision+1)
	return batches
}

// tell wakes the watchers.
func (f *Fake) tell() {
	for w := range f.watchers {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (f *Fake) forget(w *fakeWatch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers, w)
}
