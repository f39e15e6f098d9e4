package observed

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Writer writes the observations of one cluster on behalf of its owner. It
// knows what it wrote, and writes nothing twice. It is not safe for concurrent
// use.
type Writer struct {
	kv      kv.KV
	cluster string
	fence   kv.Compare
	stored  kept
	held    map[string]hold   // by key of the Service
	probed  map[string]Probes // as they were last set; nil: not yet, or not all of them
	writes  int
}

// Writer reads what was observed of the cluster so far. fence is the compare
// of the writer's ownership, part of each write.
func (s *Store) Writer(ctx context.Context, cluster string, fence kv.Compare) (*Writer, error) {
	items, _, err := s.kv.Range(ctx, kv.Range{Prefix: clusterPrefix(cluster)})
	if err != nil {
		return nil, err
	}
	w := &Writer{kv: s.kv, cluster: cluster, fence: fence, stored: kept{}, held: map[string]hold{}}
	for _, item := range items {
		w.stored.put(item.Key, item.Value)
	}
	return w, nil
}

// Writes counts what was written so far.
func (w *Writer) Writes() int { return w.writes }

// Services lists the Services ("namespace/name") that have an observation, in order.
func (w *Writer) Services() []string { return w.below(servicePrefix(w.cluster)) }

// Unasked lists by its keys, in order, what is stored of some Services ("namespace/name"), and of other placements than
// these.
func (w *Writer) Unasked(services iter.Seq[string], placements map[string]placement.Placement) []string {
	var keys []string
	for service := range services {
		if key := servicePrefix(w.cluster) + service; w.stored.of(key) != nil {
			keys = append(keys, key)
		}
	}
	for _, name := range w.below(placementPrefix(w.cluster)) {
		if _, judged := placements[name]; !judged {
			keys = append(keys, placementPrefix(w.cluster)+name)
		}
	}
	slices.Sort(keys)
	return keys
}

// Forget removes what is stored by keys, as long as the condition holds. Otherwise the
// error is ErrMoved.
func (w *Writer) Forget(ctx context.Context, keys []string, on kv.Compare) error {
	var ops []kv.Op
	for _, key := range keys {
		ops = append(ops, kv.Delete(key))
	}
	return w.apply(ctx, []kv.Compare{on}, ops...)
}

// Deployments lists the Deployments ("namespace/name") that have an
// observation, in order.
func (w *Writer) Deployments() []string {
	return w.below(deploymentPrefix(w.cluster))
}

// below lists what is stored below the prefix of one kind, in order.
func (w *Writer) below(prefix string) []string {
	return w.belowBut(prefix, func(string) bool { return false })
}

// belowBut lists what is stored below the prefix of one kind and is not to be left out, in order. Of very
// many keys, it sorts none but those that it lists.
func (w *Writer) belowBut(prefix string, leftOut func(name string) bool) []string {
	var out []string
	for key := range w.stored[prefix] {
		if name := strings.TrimPrefix(key, prefix); !leftOut(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// last is what was last written to a key, the zero value for nothing.
func last[T any](w *Writer, key string) T {
	var value T
	if raw := w.stored.of(key); raw != nil && json.Unmarshal(raw, &value) != nil {
		return *new(T)
	}
	return value
}

// Reachability is what was last written, the zero value for nothing.
func (w *Writer) Reachability() Reachability {
	return last[Reachability](w, ReachabilityKey(w.cluster))
}

// SetDeployment writes the state of a Deployment, if it changed. Since moves only
// when Available does.
func (w *Writer) SetDeployment(ctx context.Context, namespace, name string, d Deployment) error {
	if before := w.Deployment(namespace, name); before.Available == d.Available && !before.Since.IsZero() {
		d.Since = before.Since
	}
	return w.set(ctx, DeploymentKey(w.cluster, namespace, name), d)
}

// Deployment is what was last written of a Deployment, the zero value for
// nothing.
func (w *Writer) Deployment(namespace, name string) Deployment {
	return last[Deployment](w, DeploymentKey(w.cluster, namespace, name))
}

// RemoveDeployment forgets a Deployment that is none of ours any more.
func (w *Writer) RemoveDeployment(ctx context.Context, namespace, name string) error {
	return w.remove(ctx, DeploymentKey(w.cluster, namespace, name))
}

// ChangePublished writes which DNSEndpoints ("namespace/name") were seen to be published, for those of which that has
// changed. DNSEndpoints that are nil are to be forgotten, and so are others that are not in all, unless that is nil. A state that is
// published keeps its time.
func (w *Writer) ChangePublished(ctx context.Context, changed map[string]*Published, all map[string]bool) error {
	var ops []kv.Op
	under := publishedPrefix(w.cluster)
	for _, endpoint := range slices.Sorted(maps.Keys(changed)) {
		p, key := changed[endpoint], under+endpoint
		switch {
		case p == nil && w.stored.of(key) != nil:
			ops = append(ops, kv.Delete(key))
		case p != nil && !last[Published](w, key).Of(p.UID, p.Generation):
			raw, err := json.Marshal(p)
			if err != nil {
				return err
			}
			ops = append(ops, kv.Put(key, raw))
		}
	}
	if all != nil {
		told := func(endpoint string) bool { _, is := changed[endpoint]; return is || all[endpoint] }
		for _, endpoint := range w.belowBut(under, told) {
			ops = append(ops, kv.Delete(under+endpoint))
		}
	}
	return w.apply(ctx, nil, ops...)
}

// apply writes on conditions beside the fence.
func (w *Writer) apply(ctx context.Context, on []kv.Compare, ops ...kv.Op) error {
	for batch := range kv.Batches(slices.Values(ops)) {
		if err := w.commit(ctx, on, batch...); err != nil {
			return err
		}
		w.writes += len(batch)
		for _, op := range batch {
			if op.Delete {
				w.stored.drop(op.Key)
				delete(w.held, op.Key)
			} else {
				w.stored.put(op.Key, op.Value)
			}
		}
	}
	return nil
}

// SetReachability writes whether the cluster can be reached, if it changed.
// Since moves only when Reachable does.
func (w *Writer) SetReachability(ctx context.Context, r Reachability) error {
	if before := w.Reachability(); before.Reachable == r.Reachable && !before.Since.IsZero() {
		r.Since = before.Since
	}
	return w.set(ctx, ReachabilityKey(w.cluster), r)
}

// RemoveReachability forgets a cluster that nobody looks at any more.
func (w *Writer) RemoveReachability(ctx context.Context) error {
	return w.remove(ctx, ReachabilityKey(w.cluster))
}

func (w *Writer) set(ctx context.Context, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if w.stored.has(key, raw) {
		return nil
	}
	return w.apply(ctx, nil, kv.Put(key, raw))
}

func (w *Writer) remove(ctx context.Context, key string) error {
	if w.stored.of(key) == nil {
		return nil
	}
	return w.apply(ctx, nil, kv.Delete(key))
}

func (w *Writer) commit(ctx context.Context, on []kv.Compare, ops ...kv.Op) error {
	done, _, err := w.kv.Txn(ctx, append([]kv.Compare{w.fence}, on...), ops...)
	switch {
	case intent.CodeOf(err) == intent.Unavailable:
		return fmt.Errorf("%w: %w", ErrLost, err)
	case err != nil || done:
		return err
	case len(on) == 0:
		return ErrLost
	}
	if err := w.commit(ctx, nil); err != nil { // the fence alone
		return err
	}
	return ErrMoved
}
