// Package rsynctest plays EMCO's rsync for tests: over any store, with clusters
// that are maps, and with the faults that rsync has.
package rsynctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Fake is an rsync. It works on a context as soon as it is asked, before it
// answers, unless it is held. Its fields may be set between calls.
type Fake struct {
	KV      kv.KV
	Refusal string                       // what each call is answered
	Barred  map[string]bool              // the levels that it finds no credentials of
	Apply   func(bundle.Object) error    // what applying an object comes to; nil: it is applied
	Delete  func(bundle.ID) error        // the same for deleting
	Objects map[bundle.ID]bundle.Object  // what the clusters hold
	Made    map[bundle.ID]int            // how often an object was made or changed
	Creds   map[string]map[[2]string]int // how often a cluster was reached by which level and namespace

	mu    sync.Mutex
	held  bool
	calls []string
	queue []event
}

// New makes a fake over a store.
func New(store kv.KV) *Fake {
	return &Fake{KV: store, Objects: map[bundle.ID]bundle.Object{}, Made: map[bundle.ID]int{}, Creds: map[string]map[[2]string]int{}}
}

type event struct{ kind, id, other string }

// Install installs a context.
func (f *Fake) Install(ctx context.Context, id string) error {
	return f.take(ctx, "install "+id, event{"Instantiate", id, ""})
}

// Uninstall takes a context away.
func (f *Fake) Uninstall(ctx context.Context, id string) error {
	return f.take(ctx, "uninstall "+id, event{"Terminate", id, ""})
}

// Update has one context replaced by another.
func (f *Fake) Update(ctx context.Context, from, to string) error {
	return f.take(ctx, "update "+from+" "+to, event{"Update", to, from})
}

// Calls lists what it was asked for, as "install 123", since it was asked so
// last.
func (f *Fake) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// Hold has it do nothing, as while a cluster does not answer, until Release.
func (f *Fake) Hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = true
}

// Release has it do what it was asked for meanwhile.
func (f *Fake) Release(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = false
	return f.work(ctx)
}

// Forget has it be started anew in the middle of what it does: its queues are
// gone, and it skips what it had begun.
func (f *Fake) Forget(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.queue {
		if _, _, err := f.KV.Txn(ctx, nil, kv.Delete(active(e.id))); err != nil {
			return err
		}
	}
	f.queue = nil
	return nil
}

// Has answers an object, and whether the cluster holds it.
func (f *Fake) Has(id bundle.ID) (bundle.Object, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, found := f.Objects[id]
	return o, found
}

func (f *Fake) take(ctx context.Context, call string, e event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	if f.Refusal != "" {
		return errors.New(f.Refusal)
	}
	if _, err := f.read(ctx, e.id); err != nil {
		return err
	}
	state, err := f.text(ctx, stateKey(e.id))
	if err == nil && state == "" {
		err = f.setState(ctx, e.id, "Created")
	}
	if err != nil {
		return err
	}
	if err := f.begin(ctx, e); err != nil {
		return err
	}
	if f.held && e.kind != "Terminate" {
		return errors.Join(f.setState(ctx, e.id, "Instantiating"), f.ready(ctx, e.id, "Retrying"))
	}
	return f.work(ctx)
}

// ready notes whether the clusters of a context answer.
func (f *Fake) ready(ctx context.Context, id, how string) error {
	c, err := f.read(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range c.resources {
		on, _, _ := strings.Cut(r.place, "resource/")
		if _, _, err := f.KV.Txn(ctx, nil, kv.Put("/context/"+id+"/"+on+"readystatus/", []byte(`"`+how+`"`))); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fake) begin(ctx context.Context, e event) error {
	f.queue = append(f.queue, e)
	_, _, err := f.KV.Txn(ctx, nil, kv.Put(active(e.id), []byte(`"`+e.id+`"`)))
	return err
}

func (f *Fake) work(ctx context.Context) error {
	for len(f.queue) > 0 && !f.held {
		e := f.queue[0]
		f.queue = f.queue[1:]
		if err := f.do(ctx, e); err != nil {
			return err
		}
		busy := slices.ContainsFunc(f.queue, func(other event) bool { return other.id == e.id })
		if busy {
			continue
		}
		if _, _, err := f.KV.Txn(ctx, nil, kv.Delete(active(e.id))); err != nil {
			return err
		}
	}
	return nil
}

// transitions are the states in which an event is taken up, and where it leads.
func transitions() map[string][]string {
	return map[string][]string{
		"Instantiate":  {"Created Instantiated InstantiateFailed Instantiating", "Instantiated", "InstantiateFailed"},
		"Update":       {"Created Updated Instantiating", "Instantiated", "InstantiateFailed"},
		"UpdateDelete": {"Instantiated", "Updated", "UpdatedFailed"},
		"Terminate":    {"InstantiateFailed Instantiating Instantiated TerminateFailed Terminating Updated UpdatedFailed Updating", "Terminated", "TerminateFailed"},
	}
}

func (f *Fake) do(ctx context.Context, e event) error {
	state, err := f.text(ctx, stateKey(e.id))
	move := transitions()[e.kind]
	if err != nil || !slices.Contains(strings.Fields(move[0]), state) {
		return err
	}
	all, missing := f.read(ctx, e.id)
	if missing != nil {
		return f.setState(ctx, e.id, move[2])
	}
	var other contents
	if e.other != "" {
		if other, err = f.read(ctx, e.other); err != nil {
			return f.setState(ctx, e.id, move[2])
		}
	}
	if f.Barred[all.level] {
		return f.setState(ctx, e.id, move[2])
	}
	if err := f.ready(ctx, e.id, "Available"); err != nil {
		return err
	}
	then := move[1]
	for _, r := range all.resources {
		if f.passes(e, r, other) {
			continue
		}
		did := f.one(ctx, e, all, r)
		if did != nil && e.kind != "Terminate" && e.kind != "UpdateDelete" {
			then = move[2]
			break
		}
	}
	if e.kind == "Update" {
		if err := f.begin(ctx, event{"UpdateDelete", e.other, e.id}); err != nil {
			return err
		}
	}
	return f.setState(ctx, e.id, then)
}

// passes tells whether an update leaves a resource as it is.
func (f *Fake) passes(e event, r resource, other contents) bool {
	at := slices.IndexFunc(other.resources, func(o resource) bool { return o.place == r.place })
	switch e.kind {
	case "Update":
		return r.hook || at >= 0 && bytes.Equal(other.resources[at].object.JSON, r.object.JSON)
	case "UpdateDelete":
		return r.hook || at >= 0
	}
	return false
}

func (f *Fake) one(ctx context.Context, e event, c contents, r resource) error {
	if f.Creds[r.object.Cluster] == nil {
		f.Creds[r.object.Cluster] = map[[2]string]int{}
	}
	f.Creds[r.object.Cluster][[2]string{c.level, c.namespace}]++
	status, err := "Applied", error(nil)
	_, there := f.Objects[r.object.ID]
	switch {
	case e.kind == "Terminate" || e.kind == "UpdateDelete":
		if status, err = "Deleted", call(f.Delete, r.object.ID); err == nil && !there {
			err = fmt.Errorf("%s is not found", r.object.ID)
		}
		if err == nil {
			delete(f.Objects, r.object.ID)
		}
	case r.hook && there:
	default:
		if err = call(f.Apply, r.object); err == nil {
			f.Objects[r.object.ID] = r.object
			f.Made[r.object.ID]++
		}
	}
	if err != nil {
		status = "Failed"
	}
	folder := "/context/" + c.statuses + "/" + r.place
	ops := []kv.Op{kv.Put(folder+"status/", stateOf(status)), kv.Put(folder+"reference/", []byte(`"`+e.id+`"`))}
	if known, _, err := f.KV.Get(ctx, folder); err == nil && known == nil {
		ops = append(ops, kv.Put(folder, []byte(`"nil"`)))
	}
	_, _, stored := f.KV.Txn(ctx, nil, ops...)
	return errors.Join(err, stored)
}

func call[T any](do func(T) error, about T) error {
	if do == nil {
		return nil
	}
	return do(about)
}

// State is the state of a context, empty for none.
func (f *Fake) State(ctx context.Context, id string) (string, error) {
	return f.text(ctx, stateKey(id))
}

func stateKey(id string) string { return "/context/" + id + "/rsync/state/CurrentState/" }

func active(id string) string { return "/activecontext/" + id + "/" }

func (f *Fake) text(ctx context.Context, key string) (string, error) {
	item, _, err := f.KV.Get(ctx, key)
	var state struct{ Status string }
	if item != nil && err == nil {
		err = json.Unmarshal(item.Value, &state)
	}
	return state.Status, err
}

func (f *Fake) setState(ctx context.Context, id, state string) error {
	_, _, err := f.KV.Txn(ctx, []kv.Compare{kv.Exists("/context/" + id + "/")}, kv.Put(stateKey(id), stateOf(state)))
	return err
}

func stateOf(status string) []byte { return []byte(`{"Status":"` + status + `"}`) }

// contents are what it finds in a context.
type contents struct {
	statuses, level, namespace string
	resources                  []resource // in order
}

type resource struct {
	place  string // its key below that of the context
	hook   bool   // created only where it is not there
	object bundle.Object
}

// read reads a context as rsync does: what is in no order is not there.
func (f *Fake) read(ctx context.Context, id string) (contents, error) {
	root := "/context/" + id + "/"
	items, _, err := f.KV.Range(ctx, kv.Range{Prefix: root})
	if err != nil {
		return contents{}, err
	}
	keys := map[string][]byte{}
	for _, item := range items {
		keys[strings.TrimPrefix(item.Key, root)] = item.Value
	}
	var meta struct{ Level, Namespace string }
	var apps struct{ Apporder []string }
	if keys[""] == nil || json.Unmarshal(keys["meta/"], &meta) != nil || !inner(keys["app/instruction/order/"], &apps) {
		return contents{}, fmt.Errorf("context %s cannot be read", id)
	}
	c := contents{statuses: id, level: meta.Level, namespace: meta.Namespace}
	_ = json.Unmarshal(keys["statusappctxid/"], &c.statuses)
	for _, app := range apps.Apporder {
		clusters := 0
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			cluster, below := strings.CutPrefix(key, "app/"+app+"/cluster/")
			cluster, ends := strings.CutSuffix(cluster, "/")
			if below && ends && !strings.Contains(cluster, "/") {
				clusters++
				if err := c.add(keys, app, cluster); err != nil {
					return c, err
				}
			}
		}
		if clusters == 0 {
			return c, fmt.Errorf("app %s: Cluster list is empty", app)
		}
	}
	return c, nil
}

func (c *contents) add(keys map[string][]byte, app, cluster string) error {
	folder := "app/" + app + "/cluster/" + cluster + "/resource/"
	var order struct{ Resorder []string }
	var hooks struct{ Resdependency map[string][]string }
	if !inner(keys[folder+"instruction/order/"], &order) {
		return nil
	}
	inner(keys[folder+"instruction/dependency/"], &hooks)
	take := func(names []string, hook bool) error {
		for _, name := range names {
			var text string
			if err := json.Unmarshal(keys[folder+name+"/"], &text); err != nil {
				return fmt.Errorf("resource %s: %w", name, err)
			}
			object, err := bundle.Parse(cluster, app, []byte(text))
			if err != nil {
				return err
			}
			c.resources = append(c.resources, resource{folder + name + "/", hook, object})
		}
		return nil
	}
	return errors.Join(take(hooks.Resdependency["crd-install"], true), take(order.Resorder, false))
}

func inner(raw []byte, into any) bool {
	var text string
	return json.Unmarshal(raw, &text) == nil && json.Unmarshal([]byte(text), into) == nil
}
