package clustertest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

type fakeTarget struct {
	fake    *Fake
	options cluster.Options
}

var _ cluster.Target = (*fakeTarget)(nil)

// definitionOf is the name of the definition of a kind that needs one.
func definitionOf(kind cluster.Kind) (string, bool) {
	if kind == (cluster.Kind{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}) {
		return "dnsendpoints.externaldns.k8s.io", true
	}
	return "", false
}

func failure(f fault.Kind, code int, message string) error {
	return &fault.Error{Fault: f, Code: code, Message: message}
}

// request does one request.
func (t *fakeTarget) request(ctx context.Context, verb string, id bundle.ID, do func() error) error {
	f := t.fake
	f.mu.Lock()
	f.requests = append(f.requests, Request{Verb: verb, ID: id})
	hung, down := f.faults.hung, f.faults.down
	f.mu.Unlock()
	if hung != nil {
		<-hung
	}
	if err := ctx.Err(); err != nil {
		return failure(fault.Unreachable, 0, "no answer in time")
	}
	if down {
		return failure(fault.Unreachable, 0, "connection refused")
	}
	if f.Before != nil {
		if err := f.Before(ctx, verb, id); err != nil {
			return err
		}
	}
	var err error
	if slices.Contains([]string{"create", "apply", "delete", "restore", "share", "unshare"}, verb) {
		f.changeObject(id, func() { err = do() })
	} else {
		f.mu.Lock()
		err = do()
		f.mu.Unlock()
	}
	if f.After != nil && err == nil {
		err = f.After(ctx, verb, id)
	}
	return err
}

func (t *fakeTarget) Identity(ctx context.Context) (uid string, err error) {
	err = t.request(ctx, "identity", bundle.ID{}, func() error {
		uid = t.fake.identity
		return nil
	})
	return uid, err
}

func (t *fakeTarget) Get(ctx context.Context, id bundle.ID) (live *cluster.Live, err error) {
	err = t.request(ctx, "get", id, func() error {
		if o := t.fake.objects[local(id)]; o != nil {
			seen := o.live
			live = &seen
		}
		return nil
	})
	return live, err
}

// served answers why the object cannot be written, nil when it can.
func (t *fakeTarget) served(id bundle.ID) error {
	if known, clusterScoped := ClusterScoped(id.Group, id.Kind); !known {
		return failure(cluster.NotServed, 404, "the cluster does not know the kind "+id.Kind)
	} else if clusterScoped != (id.Namespace == "") {
		return failure(fault.Refused, 400, "the namespace does not fit the kind")
	}
	if definition, needed := definitionOf(cluster.KindOf(id)); needed && !t.established(definition) {
		return failure(cluster.NotServed, 404, "the server could not find the requested resource")
	}
	if id.Namespace == "" {
		return nil
	}
	if namespace := t.fake.objects[bundle.ID{Kind: "Namespace", Name: id.Namespace}]; namespace == nil || namespace.live.Deleting {
		return failure(cluster.NoNamespace, 404, "namespaces \""+id.Namespace+"\" not found")
	}
	return nil
}

func (t *fakeTarget) established(definition string) bool {
	o := t.fake.objects[bundle.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: definition}]
	return o != nil && (!t.fake.faults.late || t.fake.established[definition])
}

func (t *fakeTarget) Create(ctx context.Context, o bundle.Object) (live cluster.Live, err error) {
	raw, err := Render(ctx, o, t.options)
	if err != nil {
		return live, err
	}
	err = t.request(ctx, "create", o.ID, func() error {
		if err := t.served(o.ID); err != nil {
			if have := t.fake.objects[local(o.ID)]; have == nil || fault.Of(err) != cluster.NoNamespace {
				return err
			}
		}
		if t.fake.objects[local(o.ID)] != nil {
			return failure(cluster.Exists, 409, "the object exists")
		}
		live = t.fake.plant(o.ID, decode(raw))
		t.fake.objects[local(o.ID)].wants(decode(raw))
		return nil
	})
	return live, err
}

func (t *fakeTarget) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (live cluster.Live, err error) {
	raw, err := Render(ctx, o, t.options)
	if err != nil {
		return live, err
	}
	err = t.request(ctx, "apply", o.ID, func() error {
		have := t.fake.objects[local(o.ID)]
		if have == nil || have.live.Version != at {
			return failure(fault.Stale, 409, "the object has been modified")
		}
		t.fake.replace(cluster.KindOf(o.ID), have, have.merge(decode(raw)))
		have.wants(decode(raw))
		live = have.live
		live.Additions = have.added
		return nil
	})
	return live, err
}

func (t *fakeTarget) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (live cluster.Live, err error) {
	err = t.request(ctx, "restore", o.ID, func() error {
		have := t.fake.objects[local(o.ID)]
		if have == nil || have.live.Version != at {
			return failure(fault.Stale, 409, "the object has been modified")
		}
		have.added.Exclusive = nil
		t.fake.version++
		have.live.ResourceVersion = strconv.FormatInt(t.fake.version, 10)
		if have.live.Generation > 0 {
			have.live.Generation++
		}
		live = have.live
		live.Additions = have.added
		return nil
	})
	return live, err
}

// wants notes what Signpost applied.
func (o *object) wants(content map[string]any) { o.wanted, _ = content["metadata"].(map[string]any) }

// merge keeps what others have added to an object's metadata.
func (o *object) merge(want map[string]any) map[string]any {
	old, _ := o.content["metadata"].(map[string]any)
	metadata, _ := want["metadata"].(map[string]any)
	for _, key := range []string{"labels", "annotations"} {
		merged := map[string]any{}
		there, _ := old[key].(map[string]any)
		maps.Copy(merged, there)
		applied, _ := o.wanted[key].(map[string]any)
		maps.DeleteFunc(merged, func(name string, _ any) bool { _, was := applied[name]; return was })
		values, _ := metadata[key].(map[string]any)
		maps.Copy(merged, values)
		if len(merged) > 0 {
			metadata[key] = merged
		}
	}
	return want
}

func (t *fakeTarget) Delete(ctx context.Context, id bundle.ID, at cluster.Version) error {
	return t.request(ctx, "delete", id, func() error {
		have := t.fake.objects[local(id)]
		if have == nil {
			return nil
		}
		if have.live.Version != at {
			return failure(fault.Stale, 409, "the precondition does not hold")
		}
		if t.fake.finalizing[cluster.KindOf(id)] {
			have.live.Deleting = true
			return nil
		}
		t.fake.version++
		delete(t.fake.objects, local(id))
		return nil
	})
}

// sharedKey is where the fake remembers which keys of an object are ours.
const sharedKey = "shared"

func (t *fakeTarget) Share(ctx context.Context, o bundle.Object) (live cluster.Live, err error) {
	err = t.request(ctx, "share", o.ID, func() error {
		if err := t.served(o.ID); err != nil {
			return err
		}
		have := t.fake.objects[local(o.ID)]
		if have == nil {
			t.fake.plant(o.ID, map[string]any{"metadata": map[string]any{"name": o.Name, "namespace": o.Namespace}})
			have = t.fake.objects[local(o.ID)]
		}
		keys, _ := decode(o.JSON)["data"].(map[string]any)
		t.share(o.ID, have, keys)
		live = have.live
		return nil
	})
	return live, err
}

func (t *fakeTarget) Unshare(ctx context.Context, id bundle.ID) error {
	return t.request(ctx, "unshare", id, func() error {
		if have := t.fake.objects[local(id)]; have != nil {
			t.share(id, have, nil)
		}
		return nil
	})
}

// share puts our keys into an object in place of those that were ours.
func (t *fakeTarget) share(id bundle.ID, have *object, keys map[string]any) {
	data, _ := have.content["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	before, _ := have.content[sharedKey].(map[string]any)
	for key := range before {
		delete(data, key)
	}
	maps.Copy(data, keys)
	content := maps.Clone(have.content)
	content["data"], content[sharedKey] = data, keys
	t.fake.replace(cluster.KindOf(id), have, content)
}

func (t *fakeTarget) Established(ctx context.Context, kind cluster.Kind) (ok bool, err error) {
	err = t.request(ctx, "established", bundle.ID{Group: kind.Group, Kind: kind.Kind}, func() error {
		known, _ := ClusterScoped(kind.Group, kind.Kind)
		definition, needed := definitionOf(kind)
		ok = known && (!needed || t.established(definition))
		return nil
	})
	return ok, err
}

func (t *fakeTarget) Occupant(ctx context.Context, namespace string) (by string, err error) {
	err = t.request(ctx, "occupant", bundle.ID{Kind: "Namespace", Name: namespace}, func() error {
		for id := range t.fake.objects {
			if one := id.Kind + " " + id.Name; id.Namespace == namespace && (by == "" || one < by) {
				by = one
			}
		}
		return nil
	})
	return by, err
}

func (t *fakeTarget) Metrics(ctx context.Context, namespace, pod string, _ int32) (metrics cluster.Metrics, err error) {
	err = t.request(ctx, "metrics", bundle.ID{Kind: "Pod", Namespace: namespace, Name: pod}, func() error {
		if metrics = slices.Clone(t.fake.metrics[namespace+"/"+pod]); metrics == nil {
			return failure(fault.Unreachable, 503, "error trying to reach service: connection refused")
		}
		return nil
	})
	return metrics, err
}

func (t *fakeTarget) Watch(_ context.Context, notify cluster.Notify) cluster.Watches {
	w := &fakeWatches{target: t, notify: notify, kinds: map[cluster.Kind]bool{}, namespaces: map[string]bool{}, pods: map[string]bool{}}
	t.fake.mu.Lock()
	t.fake.watches[w] = true
	t.fake.mu.Unlock()
	return w
}

func (t *fakeTarget) Close() {}

type fakeWatches struct {
	target     *fakeTarget
	notify     cluster.Notify
	kinds      map[cluster.Kind]bool
	namespaces map[string]bool
	pods       map[string]bool // namespaces
	nodes      bool
}

// Follow tells the notified as soon as what is new can be seen, as a first list
// does.
func (w *fakeWatches) Follow(interest cluster.Interest) {
	f := w.target.fake
	f.mu.Lock()
	kinds, namespaces := map[cluster.Kind]bool{}, map[string]bool{}
	moreKinds, moreNamespaces := false, false
	for _, kind := range interest.Kinds {
		kinds[kind] = true
		moreKinds = moreKinds || !w.kinds[kind]
	}
	for _, namespace := range interest.Namespaces {
		namespaces[namespace] = true
		moreNamespaces = moreNamespaces || !w.namespaces[namespace]
	}
	w.kinds, w.namespaces = kinds, namespaces
	morePods := false
	for _, namespace := range interest.Pods {
		morePods = morePods || !w.pods[namespace]
		w.pods[namespace] = true
	}
	moreNodes := interest.Nodes && !w.nodes
	w.nodes = interest.Nodes
	f.mu.Unlock()
	if morePods {
		w.notify.Pods()
	}
	if moreKinds {
		w.notify.Objects()
		w.notify.Published()
	}
	if moreNamespaces || moreNodes {
		w.notify.Addresses("", "")
	}
}

// sees tells whether the watches work. The fake is locked.
func (w *fakeWatches) sees() bool {
	f := w.target.fake
	return f.watches[w] && !f.faults.blind && !f.faults.down && f.faults.hung == nil
}

func (w *fakeWatches) Object(id bundle.ID, _ string) cluster.Sight {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if !w.sees() || !w.kinds[cluster.KindOf(id)] {
		return cluster.Sight{}
	}
	o := f.objects[local(id)]
	if o == nil || !o.live.Ours(w.target.options.Installation) {
		return cluster.Sight{Known: true}
	}
	live := o.live
	return cluster.Sight{Known: true, Live: &live}
}

func (w *fakeWatches) Service(namespace, name string) (address.Observation, bool) {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sought++
	if !w.sees() || !w.namespaces[namespace] {
		return address.Observation{}, false
	}
	return f.services[namespace+"/"+name], true
}

func (w *fakeWatches) Deployment(namespace, name string) (*cluster.Availability, bool) {
	return w.workload(bundle.ID{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name})
}

func (w *fakeWatches) DaemonSet(namespace, name string) (*cluster.Availability, bool) {
	return w.workload(bundle.ID{Group: "apps", Kind: "DaemonSet", Namespace: namespace, Name: name})
}

func (w *fakeWatches) workload(id bundle.ID) (*cluster.Availability, bool) {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	known := w.sees() && w.kinds[cluster.KindOf(id)]
	if !known || f.objects[id] == nil {
		return nil, known
	}
	a := f.available[id.Namespace+"/"+id.Name]
	return &a, true
}

func (w *fakeWatches) Pods(namespace string, labels map[string]string) ([]cluster.Pod, error) {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.faults.podless != nil:
		return nil, f.faults.podless
	case !w.sees() || !w.pods[namespace]:
		return nil, failure(fault.Unreachable, 0, "not listed yet")
	}
	var pods []cluster.Pod
	for at, pod := range f.pods {
		if strings.HasPrefix(at, namespace+"/") && intent.HasLabels(pod.Labels, labels) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b cluster.Pod) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Name, b.Name))
	})
	return pods, nil
}

func (w *fakeWatches) Nodes() ([]placement.Node, bool) {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.sees() || !w.nodes {
		return nil, false
	}
	return slices.SortedFunc(maps.Values(f.nodes), func(a, b placement.Node) int { return strings.Compare(a.Name, b.Name) }), true
}

func (w *fakeWatches) Trouble() error {
	f := w.target.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.down {
		return failure(fault.Unreachable, 0, "connection refused")
	}
	return nil
}

func (w *fakeWatches) Stop() {
	w.target.fake.mu.Lock()
	defer w.target.fake.mu.Unlock()
	delete(w.target.fake.watches, w)
}
