package builtin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// held is an object as it was read from its key.
type held struct {
	object   bundle.Object
	live     cluster.Live
	revision int64
}

// view is a picture of the objects of a publisher, by their keys.
type view struct {
	target *Target

	mu      sync.Mutex
	objects map[bundle.ID]held
	few     map[bundle.ID]bool // those of objects that have settings
	turn    int64              // counts the removals of objects
	removed removals
	synced  bool
	trouble error
	loop    *loop // nil: no goroutine publishes
}

func newView(t *Target) *view {
	return &view{target: t, objects: map[bundle.ID]held{}, few: map[bundle.ID]bool{}, removed: newRemovals()}
}

// set takes up an object, unless a newer state of it is known.
func (v *view) set(now held) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if before, known := v.objects[now.object.ID]; known && before.revision >= now.revision || v.removed.at[now.object.ID].revision >= now.revision {
		return
	}
	v.put(now)
	v.note(now.object.ID)
}

// put takes up an object. The view is locked.
func (v *view) put(now held) {
	v.objects[now.object.ID] = now
	if now.object.IsPublisher() {
		v.few[now.object.ID] = true
	}
}

// note has the publishing goroutine look at an object. The view is locked.
func (v *view) note(id bundle.ID) {
	if v.loop != nil && v.loop.changed != nil {
		v.loop.changed[id] = true
	}
	v.wake()
}

// drop forgets an object that was removed at a revision.
func (v *view) drop(id bundle.ID, revision int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if before, known := v.objects[id]; known && before.revision < revision {
		delete(v.objects, id)
		delete(v.few, id)
	}
	v.turn++
	v.removed.add(id, revision, v.turn, v.target.Now())
	v.note(id)
}

// wake has the publishing goroutine look. The view is locked.
func (v *view) wake() {
	if v.loop != nil {
		v.loop.wake()
	}
}

// settings answers the object that has the settings; known is false if there is none, and before all were read.
func (v *view) settings() (now held, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.present()
}

// present is what settings answers. The view is locked.
func (v *view) present() (now held, known bool) {
	if !v.synced || len(v.few) == 0 {
		return held{}, false
	}
	return v.objects[slices.MinFunc(slices.Collect(maps.Keys(v.few)), bundle.Compare)], true
}

// taken are objects that have changed, nil for those that have gone.
type taken struct {
	changed map[bundle.ID]*held
	all     bool // any may have changed: these are all there are
	turn    int64
}

// take answers a loop the objects that have changed since it has called before. It answers none if other settings than those
// of a revision are there: what has changed with them is to be done by them.
func (v *view) take(of *loop, settings int64) (now taken, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if is, known := v.present(); !known || is.revision != settings {
		return taken{}, false
	}
	now = taken{map[bundle.ID]*held{}, of.changed == nil, v.turn}
	for id := range of.changed {
		now.changed[id] = nil
		if object, there := v.objects[id]; there {
			now.changed[id] = &object
		}
	}
	if now.all {
		for id, object := range v.objects {
			now.changed[id] = &object
		}
	}
	of.changed = map[bundle.ID]bool{}
	return now, true
}

// droppedBy tells whether an object has gone, and was gone at a turn.
func (v *view) droppedBy(id bundle.ID, turn int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, there := v.objects[id]
	at, removed := v.removed.at[id]
	return v.synced && !there && removed && at.turn <= turn
}

// told notes that an object is said to have gone with its names.
func (v *view) told(id bundle.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.removed.told(id, v.target.Now())
}

// load reads all objects, and answers the revision that they were read at.
func (v *view) load(ctx context.Context) (int64, error) {
	items, revision, err := v.target.KV.Range(ctx, kv.Range{Prefix: v.target.prefix()})
	if err != nil {
		return 0, err
	}
	var objects []held
	for _, item := range items {
		now, err := v.target.read(item)
		if err != nil {
			return 0, err
		}
		objects = append(objects, now)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.objects, v.few = make(map[bundle.ID]held, len(objects)), map[bundle.ID]bool{}
	for _, now := range objects {
		v.put(now)
	}
	if v.loop != nil {
		v.loop.changed = nil
	}
	v.synced, v.trouble = true, nil
	v.removed = newRemovals() // what has come and gone meanwhile was not seen
	v.wake()
	return revision, nil
}

// watches is what is known of a publisher's objects, and of what it has written.
type watches struct {
	*view
	stop context.CancelFunc
	loop *loop
}

var _ cluster.BuiltIn = (*watches)(nil)

// Watch implements cluster.Target: it begins to publish, too.
func (t *Target) Watch(ctx context.Context, notify cluster.Notify) cluster.Watches {
	ctx, stop := context.WithCancel(ctx)
	w := &watches{view: t.view, stop: stop, loop: newLoop(t, notify)}
	t.view.mu.Lock()
	t.view.loop = w.loop
	t.view.mu.Unlock()
	go w.run(ctx, notify)
	t.loops.Go(func() { w.loop.run(ctx) })
	return w
}

// run keeps the picture up to date.
func (w *watches) run(ctx context.Context, notify cluster.Notify) {
	for ctx.Err() == nil {
		revision, err := w.load(ctx)
		if err != nil {
			if w.fail(err) {
				notify.Workloads()
			}
			if !w.loop.pause(ctx, retryFirst) {
				return
			}
			continue
		}
		notify.Objects()
		for batch := range w.target.KV.Watch(ctx, w.target.prefix(), revision+1) {
			if batch.Compacted {
				break
			}
			if changed := w.take(batch); len(changed) > 0 {
				notify.Objects(changed...)
			}
		}
	}
}

// fail notes why the picture is not known, and tells whether that is news.
func (w *watches) fail(err error) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news = w.synced || w.trouble == nil
	w.synced, w.trouble = false, err
	return news
}

// take takes up what was written, by whomever, and answers what has changed.
func (w *watches) take(batch kv.Batch) []bundle.ID {
	var changed []bundle.ID
	for _, event := range batch.Events {
		if !event.Deleted {
			if now, err := w.target.read(event.Item); err == nil {
				w.set(now)
				changed = append(changed, local(now.object.ID))
			}
			continue
		}
		if id, known := w.idOf(event.Key); known {
			w.drop(id, event.ModRevision)
			changed = append(changed, local(id))
		}
	}
	return changed
}

// local is an id without its cluster.
func local(id bundle.ID) bundle.ID {
	id.Cluster = ""
	return id
}

// idOf is the object of a key, if it is known.
func (w *watches) idOf(key string) (id bundle.ID, known bool) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(key, w.target.prefix()), "/")
	namespace, name, _ := strings.Cut(rest, "/")
	id = bundle.EndpointID(w.target.name, namespace, name)
	if kind == bundle.PublisherKind {
		id = w.target.publisher(namespace, name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known = w.objects[id]
	return id, known
}

// Follow implements cluster.Watches: all objects are followed.
func (w *watches) Follow(cluster.Interest) {}

// Object implements cluster.Watches.
func (w *watches) Object(id bundle.ID, _ string) cluster.Sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.synced {
		return cluster.Sight{}
	}
	now, there := w.objects[id]
	if !there || !now.live.Ours(w.target.Options.Installation) {
		return cluster.Sight{Known: true}
	}
	live := now.live
	return cluster.Sight{Known: true, Live: &live}
}

// Service implements cluster.Watches: a publisher has no Services.
func (w *watches) Service(string, string) (address.Observation, bool) {
	return address.Observation{}, false
}

// Deployment implements cluster.Watches: a publisher is available unless its servers can be neither read nor written.
func (w *watches) Deployment(namespace, name string) (*cluster.Availability, bool) {
	told := w.loop.said.report()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch _, there := w.objects[w.target.publisher(namespace, name)]; {
	case !there:
		return nil, w.synced
	case !told.Down.IsZero():
		return &cluster.Availability{Desired: 1, Message: "the built-in publisher does not work since " + told.Down.UTC().Format(time.RFC3339) + ": " + told.Failing}, w.synced
	}
	return &cluster.Availability{Available: true, Desired: 1, Ready: 1}, w.synced
}

// DaemonSet implements cluster.Watches.
func (w *watches) DaemonSet(string, string) (*cluster.Availability, bool) { return nil, true }

// Pods implements cluster.Watches: a publisher has no pods.
func (w *watches) Pods(string, map[string]string) ([]cluster.Pod, error) { return nil, nil }

// Nodes implements cluster.Watches.
func (w *watches) Nodes() ([]placement.Node, bool) { return nil, false }

// Trouble implements cluster.Watches.
func (w *watches) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// Stop implements cluster.Watches.
func (w *watches) Stop() { w.stop() }

// Publishing implements cluster.BuiltIn.
func (w *watches) Publishing() cluster.Publishing { return w.loop.said.report() }

// Published implements cluster.BuiltIn.
func (w *watches) Published(endpoint bundle.ID) (cluster.Published, bool) {
	return w.loop.said.of(endpoint)
}

// Removed implements cluster.BuiltIn.
func (w *watches) Removed(endpoint bundle.ID, names []string) bool {
	done := w.loop.said.progress()
	if !done.known || !w.droppedBy(endpoint, done.turn) || slices.ContainsFunc(names, func(name string) bool { return done.left[name] }) {
		return false
	}
	w.told(endpoint)
	return true
}

// Metrics implements cluster.Target: a publisher has no pods to ask.
func (t *Target) Metrics(context.Context, string, string, int32) (cluster.Metrics, error) {
	return nil, cluster.Refuse("a built-in publisher has no pods")
}
