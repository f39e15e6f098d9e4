// Package clustertest holds what tests need of clusters: a cluster in memory that answers
// as an API server does, and a suite. Every cluster.Target must pass the suite, the fake
// among them.
package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Fake is a cluster in memory. It is safe for concurrent use.
type Fake struct {
	// Before, when set, is called ahead of every request ("identity", "get",
	// "create", "apply", "delete", "established", "occupant", "metrics"); its error is
	// the answer. After is called behind it; its error replaces the answer to
	// a request that did happen. Set them before use.
	Before, After func(ctx context.Context, verb string, id bundle.ID) error

	mu          sync.Mutex
	identity    string
	version     int64
	uids        int64
	objects     map[bundle.ID]*object
	services    map[string]address.Observation
	available   map[string]cluster.Availability
	pods        map[string]cluster.Pod // by "namespace/name"
	nodes       map[string]placement.Node
	metrics     map[string]cluster.Metrics // by "namespace/name" of the pod
	established map[string]bool
	finalizing  map[cluster.Kind]bool
	faults      faults
	requests    []Request
	looks       int // at objects, through watches
	sought      int // Services, likewise
	watches     map[*fakeWatches]bool
}

// faults are what the cluster does wrong.
type faults struct {
	podless error         // why pods cannot be watched
	late    bool          // definitions are not established until told
	blind   bool          // watches see nothing
	down    bool          // requests and watches fail
	hung    chan struct{} // requests wait for it; nil: for nothing
}

// Request is one that the fake has answered.
type Request struct {
	Verb string
	ID   bundle.ID
}

type object struct {
	live    cluster.Live
	content map[string]any
	wanted  map[string]any // the metadata that Signpost applied last; nil: none
	added   cluster.Additions
}

// NewFake makes a cluster that holds what a new one holds.
func NewFake(identity string) *Fake {
	f := &Fake{
		identity: identity, version: 1, objects: map[bundle.ID]*object{}, services: map[string]address.Observation{},
		available: map[string]cluster.Availability{}, established: map[string]bool{},
		pods: map[string]cluster.Pod{}, metrics: map[string]cluster.Metrics{},
		nodes: map[string]placement.Node{}, finalizing: map[cluster.Kind]bool{}, watches: map[*fakeWatches]bool{},
	}
	for _, namespace := range []string{"default", "kube-system"} {
		f.plant(bundle.ID{Kind: "Namespace", Name: namespace}, map[string]any{"apiVersion": "v1", "kind": "Namespace"})
	}
	return f
}

// Target connects to the fake.
func (f *Fake) Target(options cluster.Options) cluster.Target {
	return &fakeTarget{fake: f, options: options}
}

// local is the id without the name of the cluster.
func local(id bundle.ID) bundle.ID {
	id.Cluster = ""
	return id
}

// generations tells which kinds count changes of what is not metadata.
func generations(kind cluster.Kind) bool {
	switch kind.Group {
	case "apps", "batch", "externaldns.k8s.io", "apiextensions.k8s.io":
		return true
	}
	return false
}

func (f *Fake) plant(id bundle.ID, content map[string]any) cluster.Live {
	f.version++
	f.uids++
	o := &object{content: content}
	o.live.UID, o.live.ResourceVersion = fmt.Sprintf("uid-%d", f.uids), strconv.FormatInt(f.version, 10)
	if generations(cluster.KindOf(id)) {
		o.live.Generation = 1
	}
	o.live.Labels, o.live.Annotations = marksOf(content)
	f.objects[local(id)] = o
	return o.live
}

func marksOf(content map[string]any) (labels, annotations map[string]string) {
	metadata, _ := content["metadata"].(map[string]any)
	texts := func(key string) map[string]string {
		out := map[string]string{}
		values, _ := metadata[key].(map[string]any)
		for k, v := range values {
			out[k], _ = v.(string)
		}
		return out
	}
	return texts("labels"), texts("annotations")
}

func decode(raw []byte) map[string]any {
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		panic("a test's object does not parse: " + err.Error())
	}
	return content
}

// Plant puts an object there as another client would, without our labels unless it has
// them, or overwrites the one that is there.
func (f *Fake) Plant(o bundle.Object) {
	f.changeObject(o.ID, func() {
		if have := f.objects[local(o.ID)]; have != nil {
			f.replace(cluster.KindOf(o.ID), have, decode(o.JSON))
			return
		}
		f.plant(o.ID, decode(o.JSON))
	})
}

// Touch changes an object's status: its version alone.
func (f *Fake) Touch(id bundle.ID) {
	f.changeObject(id, func() {
		if o := f.objects[local(id)]; o != nil {
			f.version++
			o.live.ResourceVersion = strconv.FormatInt(f.version, 10)
		}
	})
}

// Add has a manager set a field that is not Signpost's, in the part of the object that is
// Signpost's alone or in another one.
func (f *Fake) Add(id bundle.ID, manager, field string, exclusive bool) {
	f.changeObject(id, func() {
		o := f.objects[local(id)]
		if o == nil {
			return
		}
		f.version++
		o.live.ResourceVersion, o.live.ChangedBy = strconv.FormatInt(f.version, 10), manager
		if o.live.Generation > 0 {
			o.live.Generation++
		}
		if exclusive {
			o.added.Exclusive = append(slices.Clone(o.added.Exclusive), field)
		} else {
			o.added.Other = append(slices.Clone(o.added.Other), field+" ("+manager+")")
		}
	})
}

// Additions are what others have added to an object.
func (f *Fake) Additions(id bundle.ID) cluster.Additions {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[local(id)]; o != nil {
		return o.added
	}
	return cluster.Additions{}
}

// Remove takes an object away at once, as another client would.
func (f *Fake) Remove(id bundle.ID) {
	f.changeObject(id, func() {
		f.version++
		delete(f.objects, local(id))
	})
}

// Finalize has objects of a kind stay until Finish, once they are deleted.
func (f *Fake) Finalize(kind cluster.Kind, yes bool) { f.change(func() { f.finalizing[kind] = yes }) }

// Finish ends the deletion of all objects that wait for it.
func (f *Fake) Finish() {
	f.change(func() {
		for id, o := range f.objects {
			if o.live.Deleting {
				f.version++
				delete(f.objects, id)
			}
		}
	})
}

// LateDefinitions has new definitions wait for Establish.
func (f *Fake) LateDefinitions() { f.change(func() { f.faults.late = true }) }

// Establish has a definition's kind served.
func (f *Fake) Establish(definition string) { f.change(func() { f.established[definition] = true }) }

// SetService has a Service offer addresses.
func (f *Fake) SetService(namespace, name string, o address.Observation) {
	f.changeBeside(func() { f.services[namespace+"/"+name] = o }, func(w *fakeWatches) { w.notify.Addresses(namespace, name) })
}

// SetAvailability says how a Deployment or a DaemonSet does.
func (f *Fake) SetAvailability(namespace, name string, a cluster.Availability) {
	f.changeBeside(func() { f.available[namespace+"/"+name] = a }, quietly)
}

// SetPod has a pod run, or not, as it says.
func (f *Fake) SetPod(namespace string, pod cluster.Pod) {
	f.changeBeside(func() { f.pods[namespace+"/"+pod.Name] = pod }, quietly)
}

// RemovePod takes a pod away.
func (f *Fake) RemovePod(namespace, name string) {
	f.changeBeside(func() { delete(f.pods, namespace+"/"+name) }, quietly)
}

// Podless has the watches of pods fail with err; nil ends that.
func (f *Fake) Podless(err error) { f.changeBeside(func() { f.faults.podless = err }, quietly) }

// SetNode has a node be there as it says.
func (f *Fake) SetNode(node placement.Node) {
	f.changeBeside(func() { f.nodes[node.Name] = node }, anywhere)
}

// RemoveNode takes a node away.
func (f *Fake) RemoveNode(name string) { f.changeBeside(func() { delete(f.nodes, name) }, anywhere) }

// SetMetrics has a pod serve these metrics; nil: it does not answer.
func (f *Fake) SetMetrics(namespace, pod string, metrics cluster.Metrics) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.metrics[namespace+"/"+pod] = metrics
}

// Note has external-dns note in a DNSEndpoint that it read it as it is.
func (f *Fake) Note(id bundle.ID) {
	f.changeObject(id, func() {
		if o := f.objects[local(id)]; o != nil {
			f.version++
			o.live.ResourceVersion = strconv.FormatInt(f.version, 10)
			o.live.Observed = o.live.Generation
		}
	})
}

// Blind has the watches see nothing until told otherwise.
func (f *Fake) Blind(yes bool) { f.change(func() { f.faults.blind = yes }) }

// Down has all requests and watches fail until told otherwise.
func (f *Fake) Down(yes bool) { f.change(func() { f.faults.down = yes }) }

// Hang has all requests wait, even beyond the end of their context, until the function
// that it answers is called.
func (f *Fake) Hang() (release func()) {
	hung := make(chan struct{})
	f.change(func() { f.faults.hung = hung })
	return sync.OnceFunc(func() {
		f.change(func() { f.faults.hung = nil })
		close(hung)
	})
}

// Rebuild makes the cluster a new one under the old name.
func (f *Fake) Rebuild(identity string) {
	f.change(func() {
		f.identity = identity
		clear(f.objects)
		for _, namespace := range []string{"default", "kube-system"} {
			f.plant(bundle.ID{Kind: "Namespace", Name: namespace}, map[string]any{})
		}
	})
}

// Content answers an object's content, nil when there is none.
func (f *Fake) Content(id bundle.ID) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[local(id)]; o != nil {
		return maps.Clone(o.content)
	}
	return nil
}

// Live answers an object's metadata, nil when there is none.
func (f *Fake) Live(id bundle.ID) *cluster.Live {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[local(id)]; o != nil {
		live := o.live
		return &live
	}
	return nil
}

// Requests answers what was asked since the last Forget.
func (f *Fake) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Request(nil), f.requests...)
}

// Looks answers how many objects were looked at through watches since the last Forget.
func (f *Fake) Looks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looks
}

// Sought answers how many Services were looked at through watches since the last Forget.
func (f *Fake) Sought() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sought
}

// Move changes what a Service offers, and tells no watcher of it.
func (f *Fake) Move(namespace, name string, o address.Observation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.services[namespace+"/"+name] = o
}

// Mislead takes an object away, and tells no watcher of it.
func (f *Fake) Mislead(id bundle.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, local(id))
}

// Forget forgets the requests and looks so far.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.looks, f.sought = nil, 0, 0
}

// change does something to the cluster and tells the watchers that anything may have
// changed.
func (f *Fake) change(do func()) {
	f.changeBeside(do, func(w *fakeWatches) { w.notify.Objects(); w.notify.Published(); anywhere(w) })
}

// changeObject does something to one object and tells the watchers of it alone.
func (f *Fake) changeObject(id bundle.ID, do func()) {
	f.changeBeside(do, func(w *fakeWatches) {
		w.notify.Objects(local(id))
		if id.IsEndpoint() {
			w.notify.Published(local(id))
		}
	})
}

// changeBeside does something to the cluster, and tells the watchers of more than objects
// by tell.
func (f *Fake) changeBeside(do func(), tell func(*fakeWatches)) {
	f.mu.Lock()
	do()
	watches := slices.Collect(maps.Keys(f.watches))
	f.mu.Unlock()
	for _, w := range watches {
		tell(w)
		w.notify.Workloads()
		w.notify.Pods()
	}
}

// anywhere tells that any Service may offer something else.
func anywhere(w *fakeWatches) { w.notify.Addresses("", "") }

// quietly tells no watcher of objects.
func quietly(*fakeWatches) {}

// replace gives an object other content; doing so with the same one changes
// nothing.
func (f *Fake) replace(kind cluster.Kind, o *object, content map[string]any) {
	if reflect.DeepEqual(o.content, content) {
		return
	}
	before, after := maps.Clone(o.content), maps.Clone(content)
	delete(before, "metadata")
	delete(after, "metadata")
	if generations(kind) && !reflect.DeepEqual(before, after) {
		o.live.Generation++
	}
	f.version++
	o.live.ResourceVersion = strconv.FormatInt(f.version, 10)
	o.content = content
	o.live.Labels, o.live.Annotations = marksOf(content)
}

// Data is the data of a ConfigMap.
func (f *Fake) Data(id bundle.ID) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	if o := f.objects[local(id)]; o != nil {
		data, _ := o.content["data"].(map[string]any)
		for key, value := range data {
			out[key], _ = value.(string)
		}
	}
	return out
}

// Objects lists what is there, in order.
func (f *Fake) Objects() []bundle.ID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Keys(f.objects), bundle.Compare)
}
