package emco

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// start works on an event once the ones before it are done. A termination ends
// what is under way.
func (r *Rsync) start(id, event, other string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.contexts[id]
	if before == nil {
		before = &queue{last: make(chan struct{})}
		close(before.last)
	} else if event == terminateEvent {
		before.cancel()
	}
	ctx, cancel := context.WithCancel(r.life)
	next := &queue{last: make(chan struct{}), cancel: cancel}
	r.contexts[id] = next
	r.running.Go(func() {
		defer cancel()
		defer close(next.last)
		<-before.last
		r.work(ctx, id, event, other)
	})
}

// work does an event, with the states and marks around it. What rsync cannot
// write or read any more, since the context has gone, ends it.
func (r *Rsync) work(ctx context.Context, id, event, other string) {
	// What is written survives that the work is cancelled.
	notes := context.WithoutCancel(ctx)
	move := transitions()[event]
	current, err := r.State(notes, id)
	if err != nil {
		return
	}
	if !slices.Contains(move.from, current) {
		_ = r.mark(notes, id, "Skip")
		return
	}
	if r.setState(notes, id, move.then, move.during) != nil {
		return
	}
	status, final := "Done", move.then
	if err := r.do(ctx, id, event, other); err != nil {
		status, final = "Error", move.error
	}
	_ = r.mark(notes, id, status)
	_ = r.setState(notes, id, "", final)
	_ = r.db.remove(notes, activePrefix+id+"/")
}

// setState writes the state of a context; an empty desired state is left as it
// is. A context that has gone stays gone.
func (r *Rsync) setState(ctx context.Context, id, desired, current string) error {
	if exists, err := r.db.has(ctx, contextKey(id)); err != nil || !exists {
		return errors.Join(fmt.Errorf("context %s is gone", id), err)
	}
	if desired != "" {
		if err := r.db.put(ctx, contextKey(id)+desiredStateLevel, state(desired)); err != nil {
			return err
		}
	}
	for _, level := range []string{currentStateLevel, statusLevel} {
		if err := r.db.put(ctx, contextKey(id)+level, state(current)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rsync) do(ctx context.Context, id, event, other string) error {
	c, err := r.read(ctx, id)
	if err != nil {
		return err
	}
	switch event {
	case terminateEvent:
		return r.each(c, func(app App, on Cluster) error { return r.remove(ctx, c, app, on) })
	case updateEvent:
		return r.update(ctx, c, other)
	case updateDeleteEvent:
		to, err := r.read(ctx, other)
		if err != nil {
			return err
		}
		c.apps = less(c.apps, to.apps, func(a, b Resource) bool { return a.Name == b.Name })
		return r.each(c, func(app App, on Cluster) error { return r.remove(ctx, c, app, on) })
	}
	return r.each(c, func(app App, on Cluster) error { return r.install(ctx, c, app, on) })
}

// update installs what differs from another context, and then has that one
// delete what it has more.
func (r *Rsync) update(ctx context.Context, c composite, other string) error {
	from, err := r.read(ctx, other)
	if err != nil {
		return err
	}
	if err := r.pend(ctx, c); err != nil {
		return err
	}
	c.apps = less(c.apps, from.apps, func(a, b Resource) bool { return a == b })
	failed := r.each(c, func(app App, on Cluster) error { return r.install(ctx, c, app, on) })
	if err := r.note(ctx, other, updateDeleteEvent, c.id); err != nil {
		return errors.Join(failed, err)
	}
	r.start(other, updateDeleteEvent, c.id)
	return failed
}

// pend notes in a context itself that its resources are pending, and nobody
// ever notes more there: the statuses are in the first context.
func (r *Rsync) pend(ctx context.Context, c composite) error {
	return r.each(c, func(app App, on Cluster) error {
		for _, resource := range on.Resources {
			key := resourceKey(c.id, app.Name, on.Name, resource.Name) + statusLevel
			exists, err := r.db.has(ctx, key)
			if err == nil && !exists {
				err = r.db.put(ctx, key, state("Pending"))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// less leaves out the resources that others have, too, in the same app and
// cluster. An update does not look at definitions of kinds.
func less(apps, others []App, same func(a, b Resource) bool) []App {
	has := map[[2]string][]Resource{}
	for _, app := range others {
		for _, on := range app.Clusters {
			has[[2]string{app.Name, on.Name}] = on.Resources
		}
	}
	for i := range apps {
		for j := range apps[i].Clusters {
			on := &apps[i].Clusters[j]
			on.CRDs = nil
			there := has[[2]string{apps[i].Name, on.Name}]
			on.Resources = slices.DeleteFunc(on.Resources, func(r Resource) bool {
				return slices.ContainsFunc(there, func(o Resource) bool { return same(r, o) })
			})
		}
	}
	return apps
}

// each does something for each app on each of its clusters, all at once.
func (r *Rsync) each(c composite, do func(App, Cluster) error) error {
	var working sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for _, app := range c.apps {
		for _, on := range app.Clusters {
			working.Go(func() {
				if err := do(app, on); err != nil {
					mu.Lock()
					defer mu.Unlock()
					failed = append(failed, err)
				}
			})
		}
	}
	working.Wait()
	return errors.Join(failed...)
}

// install applies an app's resources to a cluster in their order. The first
// that fails ends it, and with it the whole installation.
func (r *Rsync) install(ctx context.Context, c composite, app App, on Cluster) error {
	to, err := r.reach(ctx, c, app, on)
	if err != nil {
		return err
	}
	for _, resource := range slices.Concat(on.CRDs, on.Resources) {
		r.setStatus(ctx, c, app, on, resource, "Pending")
		if err := to.apply(ctx, c.namespace, resource.Text, c.statusID+"-"+app.Name); err != nil {
			r.setStatus(ctx, c, app, on, resource, "Failed")
			return fmt.Errorf("%s: %w", resource.Name, err)
		}
		r.setStatus(ctx, c, app, on, resource, "Applied")
	}
	return nil
}

// remove deletes an app's resources from a cluster; what cannot be deleted is
// left there.
func (r *Rsync) remove(ctx context.Context, c composite, app App, on Cluster) error {
	to, err := r.reach(ctx, c, app, on)
	if err != nil {
		return err
	}
	for _, resource := range slices.Concat(on.Resources, on.CRDs) {
		status := "Deleted"
		if to.remove(ctx, c.namespace, resource.Text) != nil {
			status = "Failed"
		}
		r.setStatus(ctx, c, app, on, resource, status)
	}
	return nil
}

// reach waits until a cluster answers, however long that takes.
func (r *Rsync) reach(ctx context.Context, c composite, app App, on Cluster) (*target, error) {
	ready := clusterKey(c.id, app.Name, on.Name) + readyLevel
	to, err := r.targets(on.Name, c.level, c.namespace)
	if err != nil {
		return nil, err
	}
	for to.ping(ctx) != nil {
		if err := r.db.put(ctx, ready, "Retrying"); err != nil {
			return nil, err
		}
		if err := wait(ctx, r.retry); err != nil {
			return nil, err
		}
	}
	return to, r.db.put(ctx, ready, "Available")
}

// setStatus notes what became of a resource, in the context that has the
// statuses. What is not there is made, with "nil" for the resource, so that a
// first context grows by what only later ones have.
func (r *Rsync) setStatus(ctx context.Context, c composite, app App, on Cluster, resource Resource, status string) {
	ctx = context.WithoutCancel(ctx)
	key := resourceKey(c.statusID, app.Name, on.Name, resource.Name)
	for _, level := range []struct{ key, value string }{
		{appKey(c.statusID, app.Name), app.Name},
		{clusterKey(c.statusID, app.Name, on.Name), on.Name},
		{key, "nil"},
	} {
		if exists, err := r.db.has(ctx, level.key); err == nil && !exists {
			_ = r.db.put(ctx, level.key, level.value) // a status that is not written is none of rsync's concerns
		}
	}
	_ = r.db.put(ctx, key+statusLevel, state(status)) // as above
	_ = r.db.put(ctx, key+referenceLevel, c.id)
	_ = r.db.put(ctx, clusterKey(c.statusID, app.Name, on.Name)+referenceLevel, c.id)
}
