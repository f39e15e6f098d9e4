package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Keys that say who may serve a cluster, by its name.
const (
	WorkerPrefix    = "/signpost/workers/"   // the worker that does, under its lease
	AbandonedPrefix = "/signpost/abandoned/" // nobody does
)

// Abandonment says that a cluster is given up. While it stands no worker serves
// the cluster, and its entries, which nobody writes, are what was left behind.
type Abandonment struct {
	intent.Abandoned
	Cluster string `json:"-"`   // the name, "provider+cluster"
	UID     string `json:"uid"` // of the cluster's document: another one of the same name is not abandoned

	item *kv.Item
}

// NotAbandoned compares that a cluster is not abandoned: a worker claims it
// under this condition alone.
func NotAbandoned(cluster string) kv.Compare { return kv.Compare{Key: AbandonedPrefix + cluster} }

// Servers answers the revisions of the keys of the workers that serve clusters. Clusters
// without a worker are not in it.
func (l *Ledger) Servers(ctx context.Context, clusters []string) (map[string]int64, error) {
	keys := make([]string, len(clusters)) // not nil: none are asked for
	for n, cluster := range clusters {
		keys[n] = WorkerPrefix + cluster
	}
	items, _, err := l.kv.Range(ctx, kv.Range{Keys: keys})
	serving := map[string]int64{}
	for _, item := range items {
		serving[strings.TrimPrefix(item.Key, WorkerPrefix)] = item.ModRevision
	}
	return serving, err
}

// Abandon gives a cluster up, fences its worker off, and lets another name
// stand for what this one stood for; all of it, or nothing. Of several the
// first stands. Errors: Unavailable when others keep coming in between; the
// store's.
func (l *Ledger) Abandon(ctx context.Context, a Abandonment) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	for range claimTries {
		when, then, err := l.givingUp(ctx, a.Cluster)
		if err != nil {
			return err
		}
		when = append(when, NotAbandoned(a.Cluster))
		then = append(then, kv.Put(AbandonedPrefix+a.Cluster, raw), kv.Delete(WorkerPrefix+a.Cluster))
		if done, _, err := l.kv.Txn(ctx, when, then...); done || err != nil {
			return err
		}
		if stands, err := l.Abandoned(ctx, a.Cluster); stands != nil || err != nil {
			return err
		}
	}
	return changing(a.Cluster)
}

// Abandoned answers a cluster's abandonment, nil when it has none.
func (l *Ledger) Abandoned(ctx context.Context, cluster string) (*Abandonment, error) {
	item, _, err := l.kv.Get(ctx, AbandonedPrefix+cluster)
	if item == nil || err != nil {
		return nil, err
	}
	return decodeAbandonment(*item)
}

// Abandonments answers those of all clusters, ordered by name.
func (l *Ledger) Abandonments(ctx context.Context) ([]Abandonment, error) {
	items, _, err := l.kv.Range(ctx, kv.Range{Prefix: AbandonedPrefix})
	if err != nil {
		return nil, err
	}
	var out []Abandonment
	for _, item := range items {
		a, err := decodeAbandonment(item)
		if err != nil {
			return nil, err
		}
		out = append(out, *a)
	}
	return out, nil
}

// LeftBehind answers the objects of Signpost that were last known to be in an abandoned
// cluster, in order.
func (l *Ledger) LeftBehind(ctx context.Context, cluster string) ([]bundle.ID, error) {
	items, _, err := l.kv.Range(ctx, kv.Range{Prefix: clusterPrefix(cluster)})
	if err != nil {
		return nil, err
	}
	entries, err := decodeAll(items)
	var left []bundle.ID
	for _, e := range entries {
		if e.CreatedByUs {
			left = append(left, e.ID)
		}
	}
	return left, err
}

// Lift ends an abandonment that was read, and drops what is known of the
// cluster: its name starts over. also drops what others know. It does nothing
// if the abandonment has ended already.
func (l *Ledger) Lift(ctx context.Context, a Abandonment, also ...kv.Op) error {
	key := AbandonedPrefix + a.Cluster
	then := append([]kv.Op{kv.Delete(key), kv.DeletePrefix(clusterPrefix(a.Cluster))}, also...)
	_, _, err := l.kv.Txn(ctx, []kv.Compare{kv.Unchanged(key, a.item)}, then...)
	return err
}

func decodeAbandonment(item kv.Item) (*Abandonment, error) {
	a := &Abandonment{Cluster: strings.TrimPrefix(item.Key, AbandonedPrefix), item: &item}
	if err := json.Unmarshal(item.Value, a); err != nil {
		return nil, fmt.Errorf("%s: %w", item.Key, err)
	}
	return a, nil
}
