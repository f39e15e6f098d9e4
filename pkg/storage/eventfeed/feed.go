// Package eventfeed tells all replicas of events as they happen. A key of the store has the
// last event, and its revisions are the ids of events. So etcd keeps the events that
// followers have missed, until it compacts them.
package eventfeed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const key = "/signpost/events/latest"

// Feed announces events, and follows them. It is safe for concurrent use.
type Feed struct {
	kv    kv.KV
	ended chan struct{}
	end   sync.Once
}

// New makes a Feed over a store.
func New(store kv.KV) *Feed { return &Feed{kv: store, ended: make(chan struct{})} }

// End ends all followers, and those to come.
func (f *Feed) End() { f.end.Do(func() { close(f.ended) }) }

// Announce tells all followers of an event, without the documents that it holds.
func (f *Feed) Announce(ctx context.Context, e intent.Event) error {
	e.Before, e.After = nil, nil
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, _, err = f.kv.Txn(ctx, nil, kv.Put(key, raw))
	return err
}

// Follow delivers the events behind an id, 0 for those from now on, and answers the id
// that it begins behind. The channel closes when ctx or the Feed ends. Errors: Invalid for an id that is to
// come; Gone for one that is too old.
func (f *Feed) Follow(ctx context.Context, after int64) (<-chan intent.FollowedEvent, int64, error) {
	_, now, err := f.kv.Get(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	if after > now {
		return nil, 0, &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("Last-Event-ID: %d is no id of an event here; leave it out to begin with new events", after)}
	}
	after = cmp.Or(after, now)
	if _, _, err := f.kv.Range(ctx, kv.Range{Keys: []string{key}, Revision: after}); errors.Is(err, kv.ErrCompacted) {
		return nil, 0, &intent.Error{Code: intent.Gone, Detail: fmt.Sprintf("the events behind %d are not kept any more; read GET /v2/events, then follow without Last-Event-ID", after)}
	} else if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan intent.FollowedEvent)
	changes := f.kv.Watch(ctx, key, after+1)
	go func() {
		defer close(out)
		defer cancel()
		f.deliver(ctx, changes, out)
	}()
	return out, after, nil
}

// deliver passes on what changes, until ctx or the Feed ends, or changes are lost.
func (f *Feed) deliver(ctx context.Context, changes <-chan kv.Batch, out chan<- intent.FollowedEvent) {
	for {
		select {
		case <-f.ended:
			return
		case batch, ok := <-changes:
			if !ok {
				return
			}
			for _, e := range eventsOf(batch) {
				select {
				case <-ctx.Done():
					return
				case <-f.ended:
					return
				case out <- e:
				}
				if e.Lost {
					return
				}
			}
		}
	}
}

func eventsOf(batch kv.Batch) []intent.FollowedEvent {
	if batch.Compacted {
		return []intent.FollowedEvent{{ID: batch.Revision, Lost: true}}
	}
	var all []intent.FollowedEvent
	for _, change := range batch.Events {
		e := intent.FollowedEvent{ID: change.ModRevision}
		if !change.Deleted && json.Unmarshal(change.Value, &e.Event) == nil {
			all = append(all, e)
		}
	}
	return all
}

// Reached answers the newest id behind which nothing is missing for a follower that has
// seen all events up to an id. So an id does not age while nothing happens.
func (f *Feed) Reached(ctx context.Context, seen int64) (int64, error) {
	latest, now, err := f.kv.Get(ctx, key)
	if err != nil || latest != nil && latest.ModRevision > seen {
		return seen, err
	}
	return now, nil
}
