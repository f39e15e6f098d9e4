package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// watchRetry is the pause before a broken watch is opened again.
const watchRetry = 100 * time.Millisecond

// Watch implements kv.KV.
func (s *KV) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	return s.begin(ctx, &watch{kv: s, prefix: prefix, next: from})
}

// Follow implements kv.KV.
func (s *KV) Follow(ctx context.Context, prefix string, from int64, every time.Duration) <-chan kv.Batch {
	return s.begin(ctx, &watch{kv: s, prefix: prefix, next: from, tells: every})
}

func (s *KV) begin(ctx context.Context, w *watch) <-chan kv.Batch {
	w.out = make(chan kv.Batch)
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
	next   int64         // the first revision that was not delivered, 0 for now
	tells  time.Duration // how often it tells how far it has come; 0: never
	out    chan kv.Batch
}

// follow delivers until the watch breaks: the leader is lost, the history is
// compacted, the server goes away.
func (w *watch) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(w.apart(clientv3.WithRequireLeader(ctx)))
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
	answers := by.Watch(ctx, w.prefix, clientv3.WithPrefix(), clientv3.WithRev(w.next), clientv3.WithFragment(), clientv3.WithProgressNotify())
	var due <-chan time.Time
	if w.tells > 0 {
		ticker := time.NewTicker(w.tells)
		defer ticker.Stop()
		due = ticker.C
	}
	for {
		select {
		case <-due:
			if by.RequestProgress(ctx) != nil {
				return
			}
		case answer, open := <-answers:
			if !open || !w.take(ctx, answer) {
				return
			}
		}
	}
}

// take delivers an answer, and is false if the watch broke.
func (w *watch) take(ctx context.Context, answer clientv3.WatchResponse) bool {
	switch {
	case answer.CompactRevision != 0:
		w.restart(ctx)
		return false
	case answer.Err() != nil:
		return false
	case answer.IsProgressNotify(): // all events up to its revision came before, on the same stream
		w.next = max(w.next, answer.Header.Revision+1)
		if w.tells > 0 {
			w.send(ctx, kv.Batch{Revision: answer.Header.Revision})
		}
	case len(answer.Events) > 0:
		// The header may be ahead of a watch that is catching up.
		last := answer.Events[len(answer.Events)-1].Kv.ModRevision
		w.send(ctx, kv.Batch{Events: eventsOf(answer.Events), Revision: last})
		w.next = last + 1
	}
	return true
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

// apart has a watch that tells how far it has come use a stream of its own: the client has
// one for each metadata. On a shared one, etcd tells nothing while any other watch is behind.
func (w *watch) apart(ctx context.Context) context.Context {
	if w.tells == 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "signpost-follows", w.prefix)
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
