package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// watchRetry is the pause before a broken watch is opened again.
const watchRetry = 100 * time.Millisecond

// Watch implements kv.KV.
func (s *KV) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	w := &watch{kv: s, prefix: prefix, next: from, out: make(chan kv.Batch)}
	go func() {
		defer close(w.out)
		for ctx.Err() == nil {
			w.follow(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(watchRetry):
			}
		}
	}()
	return w.out
}

type watch struct {
	kv     *KV
	prefix string
	next   int64 // the first revision that was not delivered, 0 for now
	out    chan kv.Batch
}

// follow delivers until the watch breaks: the leader is lost, the history is
// compacted, the server goes away.
func (w *watch) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.next == 0 {
		_, revision, err := w.kv.Get(ctx, w.prefix+"\x00")
		if err != nil {
			return
		}
		w.next = revision + 1
	}
	by, end := w.kv.watcher()
	defer func() { cancel(); _ = end() }()
	answers := by.Watch(clientv3.WithRequireLeader(ctx), w.prefix,
		clientv3.WithPrefix(), clientv3.WithRev(w.next), clientv3.WithFragment(), clientv3.WithProgressNotify())
	for answer := range answers {
		if answer.CompactRevision != 0 {
			w.restart(ctx)
			return
		}
		if answer.Err() != nil {
			return
		}
		if answer.IsProgressNotify() {
			w.next = max(w.next, answer.Header.Revision+1)
			continue
		}
		if len(answer.Events) == 0 {
			continue
		}
		// The header may be ahead of a watch that is catching up.
		last := answer.Events[len(answer.Events)-1].Kv.ModRevision
		w.send(ctx, kv.Batch{Events: eventsOf(answer.Events), Revision: last})
		w.next = last + 1
	}
}

// watcher is the client of a watch, and how to close it. A client that signs in by a
// password has its own for each watch. A shared client has one stream, with the token of
// its first watch. After that token has expired, etcd refuses new watches on the stream
// as long as another watch keeps it open.
func (s *KV) watcher() (by clientv3.Watcher, end func() error) {
	if s.client.Username == "" {
		return s.client, func() error { return nil }
	}
	own := clientv3.NewWatcher(s.client)
	return own, own.Close
}

// restart goes on from the present after history was lost. The revision is
// taken before the watcher is told, so that what it reads then is no older
// than the first event that follows.
func (w *watch) restart(ctx context.Context) {
	_, revision, err := w.kv.Get(ctx, w.prefix+"\x00")
	if err != nil {
		return
	}
	w.next = revision + 1
	w.send(ctx, kv.Batch{Revision: revision, Compacted: true})
}

func (w *watch) send(ctx context.Context, batch kv.Batch) {
	select {
	case w.out <- batch:
	case <-ctx.Done():
	}
}

func eventsOf(list []*clientv3.Event) []kv.Event {
	events := make([]kv.Event, len(list))
	for i, one := range list {
		events[i] = kv.Event{Item: itemOf(one.Kv), Deleted: one.Type == clientv3.EventTypeDelete}
	}
	return events
}
