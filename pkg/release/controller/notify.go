package controller

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// wakeupPrefix is followed by an owner that is due: a process without steps writes the
// key, and the process that does the step deletes it.
const wakeupPrefix = "/signpost/nudge/"

// Notifier stands in for a Controller in a process that only accepts requests: it tells
// the controllers of other processes which owners have just changed. Their scans find
// owners of lost notifications.
type Notifier struct {
	service *Worker
	accepts chan intent.Path
}

// NewNotifier makes a notifier of what a Service accepts.
func NewNotifier(service *Worker) *Notifier {
	const behind = 1024 // further owners are left to the scans
	return &Notifier{service: service, accepts: make(chan intent.Path, behind)}
}

// Run tells until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	n.service.Wakeups.Listen(func(told state.Wakeup) {
		for _, owner := range told.Owners {
			select {
			case n.accepts <- owner:
			default:
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case owner := <-n.accepts:
			_, _, err := n.service.KV.Txn(ctx, nil, kv.Put(wakeupPrefix+string(owner), nil))
			if err != nil && ctx.Err() == nil {
				n.service.Logger.WarnContext(ctx, "other replicas could not be notified of a change", "owner", owner, "error", err)
			}
		}
	}
}

// keepReceiving receives wake-ups until ctx ends, beginning again when that fails.
func (c *Controller) keepReceiving(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := c.receiveWakeups(ctx); err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "notifications of other replicas cannot be watched", "error", err)
		}
	}, time.Second)
}

// receiveWakeups puts the owners into the queue that other processes ask for.
func (c *Controller) receiveWakeups(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end() // nobody would read what is watched any more
	items, revision, err := c.service.KV.Range(ctx, kv.Range{Prefix: wakeupPrefix})
	if err != nil {
		return err
	}
	wakeups := c.service.KV.Watch(ctx, wakeupPrefix, revision+1)
	for _, item := range items {
		c.takeWakeup(ctx, item)
	}
	for batch := range wakeups {
		if batch.Compacted {
			return errors.New("notifications were missed")
		}
		for _, event := range batch.Events {
			if !event.Deleted {
				c.takeWakeup(ctx, event.Item)
			}
		}
	}
	return nil
}

// takeWakeup has this controller look at an owner, unless another one has been
// faster: one look is enough.
func (c *Controller) takeWakeup(ctx context.Context, item kv.Item) {
	mine, _, err := c.service.KV.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, kv.Delete(item.Key))
	if err != nil || mine {
		todo := work{owner: intent.Path(strings.TrimPrefix(item.Key, wakeupPrefix))}
		c.again.anew(todo)
		c.due(todo)
	}
}

// trail has log lines name whom the work is for.
func (w work) trail(ctx context.Context) context.Context {
	return tracing.With(tracing.With(ctx, "owner", string(w.owner)), "service", w.service)
}
