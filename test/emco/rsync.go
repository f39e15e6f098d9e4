package emco

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Rsync plays EMCO's rsync: it takes contexts to clusters, one event of a
// context after the other, on its own time.
type Rsync struct {
	// Address is where it answers gRPC.
	Address string

	db      *contextDB
	targets func(cluster, level, namespace string) (*target, error)

	life    context.Context //nolint:containedctx // of the process that it stands for
	die     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	refusal  string
	retry    time.Duration
	contexts map[string]*queue
	calls    []string
}

// queue is what rsync holds of a context in its memory.
type queue struct {
	last   chan struct{} // closed when the last event so far is done
	cancel context.CancelFunc
}

// retryInterval is how long rsync waits for a cluster that does not answer.
const retryInterval = 2 * time.Second

// rsync's events.
const (
	instantiateEvent  = "Instantiate"
	terminateEvent    = "Terminate"
	updateEvent       = "Update"
	updateDeleteEvent = "UpdateDelete"
)

// transition says from which states an event leads where.
type transition struct {
	from                []string
	during, then, error string
}

func transitions() map[string]transition {
	return map[string]transition{
		instantiateEvent: {
			from:   []string{"Created", "Instantiated", "InstantiateFailed", "Instantiating"},
			during: "Instantiating", then: "Instantiated", error: "InstantiateFailed",
		},
		terminateEvent: {
			from: []string{
				"InstantiateFailed", "Instantiating", "Instantiated", "TerminateFailed", "Terminating",
				"Updated", "UpdatedFailed", "Updating",
			},
			during: "Terminating", then: "Terminated", error: "TerminateFailed",
		},
		updateEvent: {
			from: []string{"Created", "Updated"}, during: "Instantiating", then: "Instantiated", error: "InstantiateFailed",
		},
		updateDeleteEvent: {from: []string{"Instantiated"}, during: "Updating", then: "Updated", error: "UpdatedFailed"},
	}
}

// Install begins to install a context, and answers once it is queued.
func (r *Rsync) Install(ctx context.Context, id string) error {
	return r.enqueue(ctx, "InstallApp "+id, id, instantiateEvent, "")
}

// Uninstall begins to take a context away. What is under way for it ends.
func (r *Rsync) Uninstall(ctx context.Context, id string) error {
	return r.enqueue(ctx, "UninstallApp "+id, id, terminateEvent, "")
}

// Update begins to install what differs in a second context, and then to take
// away what only the first one has.
func (r *Rsync) Update(ctx context.Context, from, to string) error {
	return r.enqueue(ctx, "UpdateApp "+from+" "+to, to, updateEvent, from)
}

// Refuse makes rsync say no to every call, with this text; an empty one takes
// it back.
func (r *Rsync) Refuse(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal = text
}

// Calls lists what rsync was asked for so far, as "InstallApp 123".
func (r *Rsync) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.calls...)
}

// Settle waits until rsync has done all that it was asked for.
func (r *Rsync) Settle(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		r.running.Wait()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return nil
	}
}

// State is the state of a context as rsync has it: Instantiating, Instantiated
// and so on, empty for none.
func (r *Rsync) State(ctx context.Context, id string) (string, error) {
	return r.stateAt(ctx, id, currentStateLevel)
}

func (r *Rsync) stateAt(ctx context.Context, id, level string) (string, error) {
	var state struct{ Status string }
	_, err := r.db.get(ctx, contextKey(id)+level, &state)
	return state.Status, err
}

// enqueue checks what rsync checks before it answers, notes the event in the
// context and starts to work on it.
func (r *Rsync) enqueue(ctx context.Context, call, id, event, other string) error {
	r.mu.Lock()
	r.calls = append(r.calls, call)
	refusal := r.refusal
	r.mu.Unlock()
	if refusal != "" {
		return errors.New(refusal)
	}
	if exists, err := r.db.has(ctx, contextKey(id)); err != nil || !exists {
		return errors.Join(fmt.Errorf("error finding the context id: %s", id), err)
	}
	if err := r.note(ctx, id, event, other); err != nil {
		return err
	}
	if _, err := r.read(ctx, id); err != nil {
		return err // and the event stays pending
	}
	if err := r.begin(ctx, id); err != nil {
		return err
	}
	r.start(id, event, other)
	return nil
}

// queued is an event in the queue that rsync keeps in the context.
type queued struct {
	Event  string `json:"event"`
	Other  string `json:"uCID,omitempty"`
	Status string `json:"status"` // Pending, Done, Error, Skip
}

type eventQueue struct {
	AcQueue []queued
}

// note writes an event down.
func (r *Rsync) note(ctx context.Context, id, event, other string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.db.put(ctx, activePrefix+id+"/", id); err != nil {
		return err
	}
	var events eventQueue
	if _, err := r.db.get(ctx, contextKey(id)+queueLevel, &events); err != nil {
		return err
	}
	events.AcQueue = append(events.AcQueue, queued{Event: event, Other: other, Status: "Pending"})
	return r.db.put(ctx, contextKey(id)+queueLevel, events)
}

// begin writes the defaults of a context that is new to rsync.
func (r *Rsync) begin(ctx context.Context, id string) error {
	for _, initial := range []struct {
		level string
		value any
	}{{currentStateLevel, state("Created")}, {stopLevel, false}, {pendingTerminateLevel, false}, {statusLevel, state("Created")}} {
		exists, err := r.db.has(ctx, contextKey(id)+initial.level)
		if err == nil && !exists {
			err = r.db.put(ctx, contextKey(id)+initial.level, initial.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mark notes what became of the first pending event of a context.
func (r *Rsync) mark(ctx context.Context, id, status string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events eventQueue
	if _, err := r.db.get(ctx, contextKey(id)+queueLevel, &events); err != nil {
		return err
	}
	for i := range events.AcQueue {
		if events.AcQueue[i].Status == "Pending" {
			events.AcQueue[i].Status = status
			break
		}
	}
	return r.db.put(ctx, contextKey(id)+queueLevel, events)
}

type stateValue struct{ Status string }

func state(status string) stateValue { return stateValue{status} }

// composite is a context as rsync reads it: what resorder and the dependencies
// list, and nothing else.
type composite struct {
	id, statusID     string
	level, namespace string // of the credentials; the namespace is that of objects without one, too
	apps             []App
}

// read reads a context. An app of apporder that has no cluster is an error; a
// cluster without a resorder is passed over.
func (r *Rsync) read(ctx context.Context, id string) (composite, error) {
	keys, err := r.db.prefix(ctx, contextKey(id))
	if err != nil {
		return composite{}, err
	}
	meta := Meta{Level: levelAdmin, Namespace: "default"} // of a context without a meta
	if text, exists := keys[metaKey(id)]; exists {
		meta = Meta{}
		_ = json.Unmarshal([]byte(text), &meta) // what is no meta is an empty one
	}
	c := composite{id: id, statusID: id, level: meta.Level, namespace: meta.Namespace}
	if status, exists := keys[contextKey(id)+statusContextLevel]; exists {
		_ = json.Unmarshal([]byte(status), &c.statusID)
	}
	var order struct{ Apporder []string }
	if !textOf(keys, appsKey(id)+orderLevel, &order) {
		return composite{}, fmt.Errorf("context %s has no app order", id)
	}
	for _, name := range order.Apporder {
		app := App{Name: name}
		clusters := children(keys, clustersKey(id, name))
		if len(clusters) == 0 {
			return composite{}, fmt.Errorf("context %s, app %s: Cluster list is empty", id, name)
		}
		for _, cluster := range clusters {
			if read, ok := readCluster(keys, id, name, cluster); ok {
				app.Clusters = append(app.Clusters, read)
			}
		}
		c.apps = append(c.apps, app)
	}
	return c, nil
}

func readCluster(keys map[string]string, id, app, name string) (Cluster, bool) {
	var order struct{ Resorder []string }
	var dependency struct{ Resdependency map[string][]string }
	folder := clusterKey(id, app, name) + resourcesLevel
	if !textOf(keys, folder+orderLevel, &order) {
		return Cluster{}, false
	}
	textOf(keys, folder+dependencyLevel, &dependency)
	resources := func(names []string) (found []Resource) {
		for _, resource := range names {
			var text string
			_ = json.Unmarshal([]byte(keys[resourceKey(id, app, name, resource)]), &text)
			found = append(found, Resource{Name: resource, Text: text})
		}
		return found
	}
	return Cluster{Name: name, Resources: resources(order.Resorder), CRDs: resources(dependency.Resdependency[crdHook])}, true
}

// textOf reads JSON out of a JSON text; false if there is none.
func textOf(keys map[string]string, key string, into any) bool {
	var text string
	return json.Unmarshal([]byte(keys[key]), &text) == nil && json.Unmarshal([]byte(text), into) == nil
}
