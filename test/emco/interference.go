package emco

import (
	"context"
	"slices"
)

// Meanwhile has something happen to a context while the controllers are called
// to adapt it, the next time that they are; the call does not end before it.
func (w *World) Meanwhile(do func(ctx context.Context, id string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meanwhile = do
}

// startMeanwhile starts what is to happen; the result waits for its end.
func (w *World) startMeanwhile(ctx context.Context, id string) (wait func()) {
	w.mu.Lock()
	do := w.meanwhile
	w.meanwhile = nil
	w.mu.Unlock()
	if do == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx, id)
	}()
	return func() { <-done }
}

// AddChild appends a child context to a context's meta as EMCO's service
// discovery does: it reads what it knows of the meta and writes it back whole.
// The logical cloud and every key of later versions are lost, and so is what
// somebody else wrote in between.
func (w *World) AddChild(ctx context.Context, id, child string) error {
	var meta Meta
	if _, err := w.db.get(ctx, metaKey(id), &meta); err != nil {
		return err
	}
	meta.ChildContextIDs = append(meta.ChildContextIDs, child)
	meta.LogicalCloud, meta.LogicalCloudNamespace, meta.LogicalCloudLevel = "", "", ""
	return w.db.put(ctx, metaKey(id), meta)
}

// AddResource puts one more resource into a context and its order, as other
// action controllers do: in two steps, by what it has read.
func (w *World) AddResource(ctx context.Context, id, app, cluster string, r Resource) error {
	if err := w.db.put(ctx, resourceKey(id, app, cluster, r.Name), r.Text); err != nil {
		return err
	}
	key := clusterKey(id, app, cluster) + resourcesLevel + orderLevel
	keys, err := w.db.prefix(ctx, key)
	if err != nil {
		return err
	}
	var order struct {
		Resorder []string `json:"resorder"`
	}
	textOf(keys, key, &order)
	if !slices.Contains(order.Resorder, r.Name) {
		order.Resorder = append(order.Resorder, r.Name)
	}
	return w.db.putText(ctx, key, order)
}

// Put writes one key of a context, the level without slash at its beginning
// and with one at its end, as JSON: for contexts that are wrong in some way.
func (w *World) Put(ctx context.Context, id, level string, value any) error {
	return w.db.put(ctx, contextKey(id)+level, value)
}

// Remove removes one key of a context.
func (w *World) Remove(ctx context.Context, id, level string) error {
	return w.db.remove(ctx, contextKey(id)+level)
}

// Keys are all keys of a context with their values as they are in etcd.
func (w *World) Keys(ctx context.Context, id string) (map[string]string, error) {
	return w.db.prefix(ctx, contextKey(id))
}
